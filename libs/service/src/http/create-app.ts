import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { HttpMetrics } from '../process/metrics';
import { HttpError, badRequest, methodNotAllowed, notFound } from './errors';
import { Exchange } from './exchange';
import { createMatcher } from './match-route';
import { nameRoute } from '../tracing/tracing';
import { renderError } from './render-error';
import type { Route, RouteDeps } from './route';

export interface AppOptions extends RouteDeps {
  routes: Route[];
  metrics?: HttpMetrics;
  isUnavailable?: (error: unknown) => boolean;
  /** The body of an error, if it is not the usual one. */
  shapeError?: (error: HttpError) => object;
}

/**
 * The HTTP interface of a service: request ids, routes, 404, 405, the error renderer, and one log
 * line for each request.
 */
export function createApp(options: AppOptions): RequestListener {
  const observe = createObserver(options);
  const match = createMatcher(options.routes);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const app = createExpressApp(options, exchanges);
  return (request, response) => {
    const exchange = new Exchange(request, response, options.log);
    response.setHeader('X-Request-Id', exchange.requestId);
    // What a person or a key has read stays out of caches, also on a computer that
    // several people use.
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => observe(exchange));
    const found = match(request.method!, request.url!);
    if (found === null) {
      exchanges.set(request, exchange);
      app(request, response);
    } else {
      exchange.route = found.route.path;
      nameRoute(request, exchange.route);
      found.route
        .handle(exchange, found.params, options)
        .catch((error: unknown) => fail(exchange, error, options));
    }
  };
}

/** All routes in Express, which handles the requests that the matcher does not (docs/adr/0007). */
function createExpressApp(
  options: AppOptions,
  exchanges: WeakMap<IncomingMessage, Exchange>,
): Express {
  const exchangeOf = (request: IncomingMessage) => exchanges.get(request)!;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  for (const [path, routes] of Map.groupBy(options.routes, (route) => route.path)) {
    const expressRoute = app.route(path);
    expressRoute.all((request, _response, next) => {
      exchangeOf(request).route = path;
      nameRoute(request, path);
      next();
    });
    for (const route of routes) {
      expressRoute[route.method]((request: Request<Record<string, string>>) => {
        // PostgreSQL cannot store NUL. A path contains it only as %00, and the matcher leaves
        // escapes to Express.
        if (Object.values(request.params).some((value) => value.includes('\0')))
          throw malformedPath();
        return route.handle(exchangeOf(request), request.params, options);
      });
    }
    const methods = routes.map((route) => route.method.toUpperCase());
    // Another pattern may also match the path, so the allowed methods are complete only
    // after all routes.
    expressRoute.all((_request, response: Response<unknown, { allowed?: string[] }>, next) => {
      response.locals.allowed = [...(response.locals.allowed ?? []), ...methods];
      next();
    });
  }
  app.use(
    (
      _request: Request,
      response: Response<unknown, { allowed?: string[] }>,
      next: NextFunction,
    ) => {
      const { allowed } = response.locals;
      if (allowed === undefined) return next();
      // Express answers HEAD for every GET route.
      throw methodNotAllowed([
        ...new Set(allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
      ]);
    },
  );
  app.use((request: Request) => {
    throw notFound(`No such path: ${request.path}`, 'unknown_path');
  });
  app.use((error: unknown, request: Request, _response: Response, _next: NextFunction) => {
    fail(exchangeOf(request), asHttpError(error), options);
  });
  return app;
}

/** Express reports a path that cannot be decoded as a URIError. */
const asHttpError = (error: unknown): unknown =>
  error instanceof URIError && !(error instanceof HttpError) ? malformedPath() : error;

const malformedPath = () => badRequest('Malformed path', undefined, 'malformed_path');

function fail(
  { request, response, requestId }: Exchange,
  error: unknown,
  options: AppOptions,
): void {
  const { log, isUnavailable = () => false, shapeError } = options;
  renderError(response, error, { requestId, log, isUnavailable, shapeError });
  // Node would parse the unread body as the next request of the connection.
  if (!request.complete) discardBody(request, response);
}

const discardLimitBytes = 64 * 1024 * 1024;

/**
 * Reads and discards the rest of a body, so that the client receives the answer and not a
 * reset connection.
 */
function discardBody(request: IncomingMessage, response: ServerResponse): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardLimitBytes) response.destroy();
  });
  request.on('error', () => {});
  request.resume();
}

/**
 * Logs and counts a request after its end. The status is 499 when the client disconnected
 * before the answer.
 */
function createObserver({ log, metrics }: AppOptions): (exchange: Exchange) => void {
  return ({ request, response, requestId, route, startedAtMs, knownCaller, fields }) => {
    const durationMs = performance.now() - startedAtMs;
    const method = request.method!;
    const status = response.writableFinished ? response.statusCode : 499;
    metrics?.observe({ method, route, status, durationMs });
    const line = {
      requestId,
      method,
      route,
      path: pathOf(request),
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      organizationId: knownCaller?.organizationId,
      environment: knownCaller?.environment,
      ...fields,
    };
    if (status >= 500) log.error(line, 'request');
    else if (status >= 400 && status !== 404) log.warn(line, 'request');
    else log.info(line, 'request');
  };
}

/** Without the query, which may contain personal data. */
function pathOf(request: IncomingMessage): string {
  const url = (request as Partial<Request>).originalUrl ?? request.url!;
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
