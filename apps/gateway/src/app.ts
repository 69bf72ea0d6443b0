import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import {
  HttpError,
  type HttpMetrics,
  type Logger,
  methodNotAllowed,
  nameRoute,
  notFound,
  renderError,
  requestIdOf,
  sendJson,
} from '@parley/service';
import { ClientGone, checkLength, drain, outgoingBody } from './body';
import { isOwnPage, sendOwnPage } from './docs/own-pages';
import { type HeaderList, ownHeaders, preflightHeaders, requestHeaders } from './headers';
import { forward, upstreamDown } from './proxy';
import { refuseUnsafe } from './refuse';
import { type GatewayRoute, type UpstreamName, findRoute } from './routes';
import type { Upstreams } from './upstreams';

export interface GatewayDeps {
  /** Those that are deployed; calls to others are answered with 503. */
  upstreams: Upstreams;
  /** Peers whose X-Forwarded-* are believed; null for none. */
  trustedProxies: BlockList | null;
  log: Logger;
  metrics?: HttpMetrics;
  /** Called for each attempt at an upstream that failed. */
  onUpstreamFailure?: (upstream: UpstreamName, reason: string) => void;
}

/** What is known of a request on its way; the one log line is made of it. */
class Trip {
  readonly requestId: string;
  readonly path: string;
  readonly startedAtMs = performance.now();
  route: GatewayRoute | undefined = undefined;
  failures: string[] | undefined = undefined;

  constructor(request: IncomingMessage) {
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.requestId = requestIdOf(request);
  }
}

/** The public door: refuse what is unsafe, answer /health, find the service behind a path, and stream both ways. */
export function createGatewayApp(deps: GatewayDeps): RequestListener {
  return (request, response) => {
    const trip = new Trip(request);
    response.once('finish', () => drain(request));
    response.once('close', () => observe(deps, request, response, trip));
    handle(deps, request, response, trip).catch((error: unknown) => {
      if (error instanceof ClientGone) return response.destroy();
      if (!response.headersSent) setHeaders(response, ownHeaders(trip.requestId, trip.route));
      const reply = fixedReply(request, trip, error);
      if (reply !== undefined && !response.headersSent) return sendJson(response, 200, reply);
      renderError(response, error, { requestId: trip.requestId, log: deps.log, isUnavailable: () => false });
    });
  };
}

async function handle(deps: GatewayDeps, request: IncomingMessage, response: ServerResponse, trip: Trip) {
  refuseUnsafe(request);
  const { path, requestId } = trip;
  if (path === '/health') return health(request, response, requestId);
  if (isOwnPage(path)) return sendOwnPage(path, request, response, ownHeaders(requestId, undefined));
  const route = findRoute(path);
  if (route === undefined) throw notFound(`No such path: ${path}`, 'unknown_path');
  trip.route = route;
  nameRoute(request, route.prefix);
  const own = ownHeaders(requestId, route);
  if (route.cors && request.method === 'OPTIONS') {
    response.writeHead(204, [...own, ...preflightHeaders]).end();
    return;
  }
  const { upstream: name, limitBytes } = route;
  const upstream = deps.upstreams[name];
  if (upstream === undefined) throw upstreamDown(name, 'service_not_deployed');
  checkLength(request, limitBytes);
  expectation(request, response);
  const body = await outgoingBody(request, limitBytes);
  const headers = requestHeaders(request, { requestId, trustedProxies: deps.trustedProxies });
  const length = request.headers['content-length'];
  if (length !== undefined) headers.push('content-length', length);
  await forward({
    name,
    upstream,
    request,
    response,
    headers,
    body,
    own,
    onFailure: (reason) => {
      (trip.failures ??= []).push(reason);
      deps.onUpstreamFailure?.(name, reason);
    },
  });
}

/** The answer to a body that is too large where the interface knows no other than 200. */
function fixedReply({ method }: IncomingMessage, { path, route }: Trip, error: unknown): object | undefined {
  if (method !== 'POST' || path !== route?.prefix) return undefined;
  return error instanceof HttpError && error.status === 413 ? route.tooLargeReply : undefined;
}

function health(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  setHeaders(response, [...ownHeaders(requestId, undefined), 'Cache-Control', 'no-store']);
  sendJson(response, 200, { status: 'ok', timestamp: Date.now() });
}

/** Only now is the client told to send its body; any other expectation cannot be met. */
function expectation({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.expect === undefined) return;
  if (headers.expect.toLowerCase() !== '100-continue') {
    throw new HttpError(417, 'expectation_failed', 'Only the expectation 100-continue is supported');
  }
  response.writeContinue();
}

function setHeaders(response: ServerResponse, list: HeaderList): void {
  for (let at = 0; at < list.length; at += 2) response.setHeader(list[at]!, list[at + 1]!);
}

function observe({ log, metrics }: GatewayDeps, request: IncomingMessage, response: ServerResponse, trip: Trip): void {
  const durationMs = performance.now() - trip.startedAtMs;
  const status = response.writableFinished ? response.statusCode : 499;
  const { requestId, path, failures } = trip;
  const route = trip.route?.prefix ?? (path === '/health' || isOwnPage(path) ? path : 'none');
  const method = request.method!;
  metrics?.observe({ method, route, status, durationMs });
  const upstream = trip.route?.upstream;
  const line = {
    requestId,
    method,
    route,
    path,
    upstream,
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    failures,
  };
  if (status >= 500) log.error(line, 'request');
  else if (status >= 400 && status !== 404) log.warn(line, 'request');
  else log.info(line, 'request');
}
