import type { IncomingMessage } from 'node:http';
import { isIPv6, type BlockList } from 'node:net';
import { traceparent } from '@parley/service';
import type { GatewayRoute } from './routes';

/** Headers as a flat list of names and values, as Node and undici take and give them. */
export type HeaderList = string[];

/** They speak about one connection, not about the message (RFC 9110, 7.6.1). */
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
/** Set anew for the upstream, or settled between the client and us. */
const replaced = new Set(
  'host expect content-length x-request-id forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-real-ip'.split(
    ' ',
  ),
);
/** Ours to set on every answer. */
const ours = /^(access-control-|x-request-id$|date$|x-content-type-options$|referrer-policy$|server$|x-powered-by$)/;

/** Names that a Connection header declares to be of this connection only. */
function namedInConnection(connection: string | undefined): Set<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(connection.toLowerCase().split(/\s*,\s*/));
}

export interface ForwardedFacts {
  requestId: string;
  /** Peers whose X-Forwarded-* are believed; null for none. */
  trustedProxies: BlockList | null;
}

/** What goes to the upstream: end-to-end headers as they came, the request id, and who asked. */
export function requestHeaders(request: IncomingMessage, { requestId, trustedProxies }: ForwardedFacts): HeaderList {
  const { rawHeaders, headers, socket } = request;
  const dropped = namedInConnection(headers.connection);
  const list: HeaderList = [];
  // Our own traces begin at this door; without them a client's pass through.
  const trace = traceparent();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!hopByHop.has(name) && !replaced.has(name) && !dropped?.has(name)) {
      if (trace === undefined || name !== 'traceparent') list.push(name, rawHeaders[at + 1]!);
    }
  }
  if (trace !== undefined) list.push('traceparent', trace);
  const peer = socket.remoteAddress ?? '';
  const trusted = trustedProxies?.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4') ?? false;
  const given = (name: string) => (trusted ? (headers[name] as string | undefined) : undefined);
  const before = given('x-forwarded-for');
  list.push('x-request-id', requestId, 'x-forwarded-for', before === undefined ? peer : `${before}, ${peer}`);
  list.push('x-forwarded-proto', given('x-forwarded-proto') ?? 'http');
  const host = given('x-forwarded-host') ?? headers.host;
  if (host) list.push('x-forwarded-host', host);
  return list;
}

/** What goes back to the client of an upstream's raw answer, ours first. */
export function responseHeaders(raw: readonly (Buffer | string)[], own: HeaderList): HeaderList {
  const list = [...own];
  let dropped: Set<string> | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    if (latin1(raw[at]!).toLowerCase() === 'connection') dropped = namedInConnection(latin1(raw[at + 1]!));
  }
  for (let at = 0; at < raw.length; at += 2) {
    const name = latin1(raw[at]!);
    const key = name.toLowerCase();
    if (!hopByHop.has(key) && !ours.test(key) && !dropped?.has(key)) list.push(name, latin1(raw[at + 1]!));
  }
  return list;
}

const latin1 = (text: Buffer | string) => (typeof text === 'string' ? text : text.toString('latin1'));

/** On every answer, ours or an upstream's. */
export function ownHeaders(requestId: string, route: GatewayRoute | undefined): HeaderList {
  const list = ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'];
  if (route?.cors) {
    list.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
  }
  return list;
}

/** The answer to a preflight; any browser caches it for as long as it may. */
export const preflightHeaders: HeaderList = [
  'Access-Control-Allow-Methods',
  'GET, HEAD, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Idempotency-Key',
  'Access-Control-Max-Age',
  '86400',
];
