import type { ApiKeyIdentity } from '@parley/contracts';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { HttpMetrics } from '../process/metrics';
import { HttpError, badRequest, methodNotAllowed, notFound } from './errors';
import { renderError } from './render-error';
import { requestIdOf } from './request-id';
import type { Route, RouteDeps } from './route';

export interface AppOptions extends RouteDeps {
  routes: Route[];
  metrics?: HttpMetrics;
  isUnavailable?: (error: unknown) => boolean;
}

/** The HTTP side of a service: request id, routes, 404, 405, the error renderer and one wide log line a request. */
export function createApp(options: AppOptions): Express {
  const { routes, log, isUnavailable = () => false } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.use(observe(options));
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const line = app.route(path);
    for (const route of ofPath) {
      line[route.method]((request: Request, response: Response) => {
        response.locals.route = path;
        return route.handle(request, response, options);
      });
    }
    const allowed = ofPath.map((route) => route.method.toUpperCase());
    line.all((_request, response) => {
      response.locals.route = path;
      throw methodNotAllowed(allowed);
    });
  }
  app.use((request: Request) => {
    throw notFound(`No such path: ${request.path}`, 'unknown_path');
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId = response.locals.requestId as string;
    renderError(response, asHttpError(error), { requestId, log, isUnavailable });
    // A body that was not read would be taken for the next request on this connection.
    if (!request.complete) request.resume();
  });
  return app;
}

/** Express reports a path that does not decode as an error with a status of its own. */
const asHttpError = (error: unknown): unknown =>
  error instanceof URIError && !(error instanceof HttpError)
    ? badRequest('Malformed path', undefined, 'malformed_path')
    : error;

function observe({ log, metrics }: AppOptions) {
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    response.locals.requestId = requestId;
    response.setHeader('X-Request-Id', requestId);
    response.once('close', () => {
      const durationMs = performance.now() - startedAt;
      const route = (response.locals.route as string | undefined) ?? 'none';
      const status = response.writableFinished ? response.statusCode : 499;
      metrics?.observe({ method: request.method, route, status, durationMs });
      const key = response.locals.key as ApiKeyIdentity | undefined;
      const line = {
        requestId,
        method: request.method,
        route,
        path: request.originalUrl.split('?')[0],
        status,
        durationMs: Math.round(durationMs * 100) / 100,
        organizationId: key?.organizationId,
        environment: key?.environment,
        ...(response.locals.logFields as object | undefined),
      };
      if (status >= 500) log.error(line, 'request');
      else if (status >= 400 && status !== 404) log.warn(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}
