import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { HttpMetrics } from '../process/metrics';
import { HttpError, badRequest, methodNotAllowed, notFound } from './errors';
import { Exchange } from './exchange';
import { createMatcher } from './match';
import { nameRoute } from '../process/tracing';
import { renderError } from './render-error';
import type { Route, RouteDeps } from './route';

export interface AppOptions extends RouteDeps {
  routes: Route[];
  metrics?: HttpMetrics;
  isUnavailable?: (error: unknown) => boolean;
}

/** The HTTP side of a service: request id, routes, 404, 405, the error renderer and one wide log line a request. */
export function createApp(options: AppOptions): RequestListener {
  const observe = createObserver(options);
  const match = createMatcher(options.routes);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const app = createExpressApp(options, exchanges);
  return (request, response) => {
    const exchange = new Exchange(request, response, options.log);
    response.setHeader('X-Request-Id', exchange.requestId);
    response.once('close', () => observe(exchange));
    const found = match(request.method!, request.url!);
    if (found === null) {
      exchanges.set(request, exchange);
      app(request, response);
    } else {
      exchange.route = found.route.path;
      nameRoute(request, exchange.route);
      found.route.handle(exchange, found.params, options).catch((error: unknown) => fail(exchange, error, options));
    }
  };
}

/** The whole table in Express: it answers whatever the matcher in front leaves to it. */
function createExpressApp(options: AppOptions, exchanges: WeakMap<IncomingMessage, Exchange>): Express {
  const exchangeOf = (request: IncomingMessage) => exchanges.get(request)!;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  for (const [path, ofPath] of Map.groupBy(options.routes, (route) => route.path)) {
    const line = app.route(path);
    line.all((request, _response, next) => {
      exchangeOf(request).route = path;
      nameRoute(request, path);
      next();
    });
    for (const route of ofPath) {
      line[route.method]((request: Request<Record<string, string>>) => {
        // No name holds it, and no store takes it; it only comes escaped, so only this way.
        if (Object.values(request.params).some((value) => value.includes('\0'))) throw malformedPath();
        return route.handle(exchangeOf(request), request.params, options);
      });
    }
    const methods = ofPath.map((route) => route.method.toUpperCase());
    // Another pattern may match the path as well, so what is allowed is known at the end of the table.
    line.all((_request, response: Response<unknown, { allowed?: string[] }>, next) => {
      response.locals.allowed = [...(response.locals.allowed ?? []), ...methods];
      next();
    });
  }
  app.use((_request: Request, response: Response<unknown, { allowed?: string[] }>, next: NextFunction) => {
    const { allowed } = response.locals;
    if (allowed === undefined) return next();
    // Express answers HEAD wherever there is a GET.
    throw methodNotAllowed([...new Set(allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]);
  });
  app.use((request: Request) => {
    throw notFound(`No such path: ${request.path}`, 'unknown_path');
  });
  app.use((error: unknown, request: Request, _response: Response, _next: NextFunction) => {
    fail(exchangeOf(request), asHttpError(error), options);
  });
  return app;
}

/** Express reports a path that does not decode as an error with a status of its own. */
const asHttpError = (error: unknown): unknown =>
  error instanceof URIError && !(error instanceof HttpError) ? malformedPath() : error;

const malformedPath = () => badRequest('Malformed path', undefined, 'malformed_path');

function fail({ request, response, requestId }: Exchange, error: unknown, options: AppOptions): void {
  renderError(response, error, { requestId, log: options.log, isUnavailable: options.isUnavailable ?? (() => false) });
  // A body that was not read would be taken for the next request on this connection.
  if (!request.complete) discardBody(request, response);
}

const discardLimitBytes = 64 * 1024 * 1024;

/** Reads away what the client still sends, so that it sees the answer and not a reset connection. */
function discardBody(request: IncomingMessage, response: ServerResponse): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardLimitBytes) response.destroy();
  });
  request.on('error', () => {});
  request.resume();
}

/** What is told of a request once it is over; 499 when the client left before the answer. */
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

/** Without the query, which may hold what does not belong in a log. */
function pathOf(request: IncomingMessage): string {
  const url = (request as Partial<Request>).originalUrl ?? request.url!;
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
