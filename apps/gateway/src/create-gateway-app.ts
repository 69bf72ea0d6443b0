import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  HttpError,
  type HttpMetrics,
  type Logger,
  type OpenStreams,
  methodNotAllowed,
  nameRoute,
  notFound,
  openAiError,
  renderError,
  requestIdOf,
  sendJson,
  traced,
} from '@parley/service';
import { callerOf } from './callers';
import type { createIncomingBodies } from './incoming-bodies';
import { ClientDisconnected, checkLength, drain } from './request-body';
import { type SendConsole, isConsolePath } from './console-files';
import { isOwnPage, sendOwnPage } from './own-pages';
import {
  type HeaderList,
  addressOf,
  ownHeaders,
  preflightHeaders,
  requestHeaders,
} from './headers';
import { forward, upstreamDown } from './forward';
import { refuseUnsafe } from './refuse-unsafe';
import { type GatewayRoute, type UpstreamName, findRoute } from './routes';
import { takeSlot } from './take-slot';
import type { Upstreams } from './upstreams';

export interface GatewayDeps {
  /** The services that are deployed. Requests to the others are answered with 503. */
  upstreams: Upstreams;
  /** Answers the paths below `/console`. */
  sendConsole: SendConsole;
  /** Whether the X-Forwarded-* headers of a peer are trusted. */
  isTrusted: (peer: string) => boolean;
  /** The network address of a request's client. */
  networkAddressOf: (request: IncomingMessage) => string;
  /** Receives the bodies of requests. */
  bodies: ReturnType<typeof createIncomingBodies>;
  /** The open streams, which a shutdown ends. */
  streams: OpenStreams;
  /** Maximum time in which a stream sends nothing, or in which its client reads nothing. */
  streamIdleMs: number;
  log: Logger;
  metrics?: HttpMetrics;
  /** Called for each failed attempt to reach an upstream. */
  onUpstreamFailure?: (upstream: UpstreamName, reason: string) => void;
  /**
   * Called for each request that was answered with the fixed reply of its route instead of its
   * upstream's answer.
   */
  onFixedReply?: (route: string) => void;
}

/** What the log line of a request contains, collected while the request is handled. */
class RequestState {
  readonly requestId: string;
  readonly path: string;
  readonly startedAtMs = performance.now();
  route: GatewayRoute | undefined = undefined;
  failures: string[] | undefined = undefined;

  constructor(request: IncomingMessage) {
    const url = request.url ?? '';
    const queryAt = url.indexOf('?');
    this.path = queryAt === -1 ? url : url.slice(0, queryAt);
    this.requestId = requestIdOf(request);
  }
}

/**
 * The public HTTP interface: refuses unsafe requests, answers /health and its own pages itself, and
 * streams every other request to the service of its path.
 */
export function createGatewayApp(deps: GatewayDeps): RequestListener {
  return (request, response) => {
    const state = new RequestState(request);
    response.once('finish', () => drain(request));
    response.once('close', () => observe(deps, request, response, state));
    handle(deps, request, response, state).catch((error: unknown) => {
      if (error instanceof ClientDisconnected) return response.destroy();
      if (!response.headersSent) {
        setHeaders(response, ownHeaders(state.requestId, state.route));
        // The service has not seen the origin of the page, which may read why.
        if (state.route?.corsOfService) response.setHeader('Access-Control-Allow-Origin', '*');
      }
      const reply = fixedReply(request, state, error);
      if (reply !== undefined && !response.headersSent) {
        const { requestId, path } = state;
        deps.onFixedReply?.(path);
        deps.log.warn(
          { err: error, requestId, path },
          'a request was answered that its service may not have received',
        );
        return sendJson(response, 200, reply);
      }
      renderError(response, error, {
        requestId: state.requestId,
        log: deps.log,
        isUnavailable: () => false,
        shapeError: state.path.startsWith('/openai/') ? openAiError : undefined,
      });
    });
  };
}

async function handle(
  deps: GatewayDeps,
  request: IncomingMessage,
  response: ServerResponse,
  state: RequestState,
) {
  refuseUnsafe(request);
  const { path, requestId } = state;
  if (path === '/health') return health(request, response, requestId);
  if (isOwnPage(path)) {
    const address = addressOf(request, deps.isTrusted);
    return sendOwnPage(path, request, response, ownHeaders(requestId, undefined), address);
  }
  if (isConsolePath(path))
    return deps.sendConsole(path, request, response, ownHeaders(requestId, undefined));
  if (path === '/' && isBrowser(request)) {
    response
      .writeHead(302, [
        ...ownHeaders(requestId, undefined),
        'Location',
        '/console/',
        'Content-Length',
        '0',
      ])
      .end();
    return;
  }
  const route = findRoute(path, request.method ?? '');
  if (route === undefined) throw notFound(`No such path: ${path}`, 'unknown_path');
  state.route = route;
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
  answerExpectation(request, response);
  const address = () => deps.networkAddressOf(request);
  const body = await deps.bodies.read(request, limitBytes, address);
  const expectsStream = route.hasStreams === true && asksToHold(request);
  let release: (() => void) | undefined;
  try {
    if (!expectsStream) {
      const slot = takeSlot(upstream.slots, callerOf(request, name, address), response);
      release = slot instanceof Promise ? await slot : slot;
    }
    await callUpstream(name, request, response, () => {
      const headers = requestHeaders(request, { requestId, isTrusted: deps.isTrusted });
      if (body !== null || request.headers['content-length'] !== undefined)
        headers.push('content-length', String(body?.length ?? 0));
      return forward({
        name,
        upstream,
        deadlineMs: Math.min(
          route.deadlineMs ?? Infinity,
          upstream.deadlineMs + (route.waitMs ?? 0),
        ),
        streamIdleMs: deps.streamIdleMs,
        streams: deps.streams,
        expectsStream,
        isWhole: route.fixedReply !== undefined,
        request,
        response,
        headers,
        body: body?.bytes ?? null,
        address,
        own,
        corsOfService: route.corsOfService,
        onFailure: (reason) => {
          (state.failures ??= []).push(reason);
          deps.onUpstreamFailure?.(name, reason);
        },
      });
    });
  } finally {
    release?.();
    body?.release();
  }
}

/** Runs a request to a service in a span. The headers of `send` name that span. */
function callUpstream(
  name: UpstreamName,
  { method = '' }: IncomingMessage,
  response: ServerResponse,
  send: () => Promise<void>,
): Promise<void> {
  return traced(
    {
      name: method,
      kind: 'client',
      attributes: { 'http.request.method': method, 'server.service.name': name },
    },
    send,
    () => ({ attributes: { 'http.response.status_code': response.statusCode } }),
  );
}

/** People who open the address of the gateway are led to the console. */
const isBrowser = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;

/**
 * Whether the service may hold the request for long: a stream of events, a wait for an execution,
 * or a completion of a model, of which only the body says whether it is a stream.
 */
const asksToHold = ({ url = '', headers }: IncomingMessage): boolean =>
  /\/(?:stream|completions)(?:\?|$)/.test(url) ||
  headers.accept?.includes('text/event-stream') === true ||
  /\bwait\b/i.test(String(headers.prefer ?? '')) ||
  hasWait(url);

function hasWait(url: string): boolean {
  const at = url.indexOf('?');
  return at !== -1 && new URLSearchParams(url.slice(at)).has('wait');
}

/**
 * The answer to a POST that is too large or that its upstream does not answer, for the routes whose
 * only answer is 200.
 */
function fixedReply(
  { method }: IncomingMessage,
  { path, route }: RequestState,
  error: unknown,
): object | undefined {
  return method === 'POST' && path === route?.prefix && error instanceof HttpError
    ? route.fixedReply
    : undefined;
}

function health(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw methodNotAllowed(['GET', 'HEAD']);
  setHeaders(response, [...ownHeaders(requestId, undefined), 'Cache-Control', 'no-store']);
  sendJson(response, 200, { status: 'ok', timestamp: Date.now() });
}

/**
 * Sends `100 Continue` after the checks, so that a refused client sends no body. Any other
 * expectation is refused.
 */
function answerExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.expect === undefined) return;
  if (headers.expect.toLowerCase() !== '100-continue') {
    throw new HttpError(
      417,
      'expectation_failed',
      'Only the expectation 100-continue is supported',
    );
  }
  response.writeContinue();
}

function setHeaders(response: ServerResponse, list: HeaderList): void {
  for (let at = 0; at < list.length; at += 2) response.setHeader(list[at]!, list[at + 1]!);
}

function observe(
  { log, metrics }: GatewayDeps,
  request: IncomingMessage,
  response: ServerResponse,
  state: RequestState,
): void {
  const durationMs = performance.now() - state.startedAtMs;
  const status = response.writableFinished ? response.statusCode : 499;
  const { requestId, path, failures } = state;
  const route =
    state.route?.prefix ??
    (path === '/health' || isOwnPage(path) ? path : isConsolePath(path) ? '/console' : 'none');
  const method = request.method!;
  metrics?.observe({ method, route, status, durationMs });
  const upstream = state.route?.upstream;
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
