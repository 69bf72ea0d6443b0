import type { IncomingMessage } from 'node:http';
import { traceparent } from '@parley/service';
import type { GatewayRoute } from './routes';

/** Headers as a flat list of names and values, the form that Node and undici use. */
export type HeaderList = string[];

/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
/** Request headers that the gateway sets itself, or handles without the upstream. */
const replaced = new Set(
  'host expect content-length x-request-id forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-real-ip'.split(
    ' ',
  ),
);
/** Request headers that belong to a trace. */
const ofTrace = new Set(['traceparent', 'tracestate']);
/** Response headers that only the gateway sets. */
const gatewayOnly =
  /^(x-request-id$|date$|x-content-type-options$|referrer-policy$|server$|x-powered-by$)/;

/** The header names that a Connection header lists as specific to the connection. */
function namedInConnection(connection: string | undefined): Set<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined;
  const names = connection.toLowerCase().split(',');
  return new Set(names.map((name) => name.trim()));
}

export interface ForwardedInfo {
  requestId: string;
  /** Whether the X-Forwarded-* headers of a peer are trusted. */
  isTrusted: (peer: string) => boolean;
}

/**
 * The address that a client requested, such as `https://api.example.com`. A trusted peer names it
 * with X-Forwarded-*.
 */
export function addressOf(
  { headers, socket }: IncomingMessage,
  isTrusted: ForwardedInfo['isTrusted'],
): string {
  const forwarded = isTrusted(socket.remoteAddress ?? '') ? headers : {};
  const host = forwarded['x-forwarded-host'] ?? headers.host;
  const url = `${forwarded['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${String(host)}`;
  // A host with characters that are special to a shell does not belong in a command
  // that people copy.
  return host !== undefined && /^https?:\/\/[\w.:[\]-]+$/.test(url) ? url : 'http://localhost:4000';
}

/**
 * The headers for the upstream: the client's end-to-end headers unchanged, the request id,
 * and X-Forwarded-*.
 */
export function requestHeaders(
  request: IncomingMessage,
  { requestId, isTrusted }: ForwardedInfo,
): HeaderList {
  const { rawHeaders, headers, socket } = request;
  const dropped = namedInConnection(headers.connection);
  const list: HeaderList = [];
  // With tracing enabled, traces start at the gateway. Otherwise the client's trace is forwarded.
  const trace = traceparent();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!hopByHop.has(name) && !replaced.has(name) && !dropped?.has(name)) {
      if (trace === undefined || !ofTrace.has(name)) list.push(name, rawHeaders[at + 1]!);
    }
  }
  if (trace !== undefined) list.push('traceparent', trace);
  const trusted = isTrusted(socket.remoteAddress ?? '');
  const given = (name: string) => (trusted ? (headers[name] as string | undefined) : undefined);
  list.push('x-request-id', requestId, 'x-forwarded-for', forwardedFor(request, trusted));
  list.push('x-forwarded-proto', given('x-forwarded-proto') ?? 'http');
  const host = given('x-forwarded-host') ?? headers.host;
  if (host) list.push('x-forwarded-host', host);
  return list;
}

/** The addresses of the client and the proxies before the gateway. */
export function forwardedFor({ headers, socket }: IncomingMessage, isPeerTrusted: boolean): string {
  const peer = socket.remoteAddress ?? '';
  const chain = isPeerTrusted ? headers['x-forwarded-for'] : undefined;
  return chain === undefined ? peer : `${String(chain)}, ${peer}`;
}

/**
 * The headers for the client: the gateway's own, then the forwarded headers of the
 * upstream's raw answer.
 */
export function responseHeaders(
  raw: readonly (Buffer | string)[],
  own: HeaderList,
  corsOfService = false,
): HeaderList {
  const list = [...own];
  let dropped: Set<string> | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    if (latin1(raw[at]!).toLowerCase() === 'connection')
      dropped = namedInConnection(latin1(raw[at + 1]!));
  }
  for (let at = 0; at < raw.length; at += 2) {
    const name = latin1(raw[at]!);
    const key = name.toLowerCase();
    if (key.startsWith('access-control-') && !corsOfService) continue;
    if (!hopByHop.has(key) && !gatewayOnly.test(key) && !dropped?.has(key))
      list.push(name, latin1(raw[at + 1]!));
  }
  return list;
}

const latin1 = (text: Buffer | string) =>
  typeof text === 'string' ? text : text.toString('latin1');

/** The headers of every answer, whether it comes from the gateway or from an upstream. */
export function ownHeaders(requestId: string, route: GatewayRoute | undefined): HeaderList {
  const list = [
    'X-Request-Id',
    requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
  ];
  if (route?.cors) {
    list.push(
      'Access-Control-Allow-Origin',
      '*',
      'Access-Control-Expose-Headers',
      'X-Request-Id, Retry-After',
    );
  }
  return list;
}

/** The answer to a preflight. 86,400 s is the longest time that a browser caches it. */
export const preflightHeaders: HeaderList = [
  'Access-Control-Allow-Methods',
  'GET, HEAD, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Idempotency-Key',
  'Access-Control-Max-Age',
  '86400',
];
