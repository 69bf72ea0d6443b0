import type { IncomingMessage, ServerResponse } from 'node:http';
import { isListedOrigin } from '@parley/contracts';
import { type Visitor, type VisitorDoor, visitorOfToken } from '@parley/identity';
import type { Counter } from '@parley/redis';
import { forbidden, rateLimited, unauthorized, unavailable } from '@parley/service';
import { clientAddress } from './sign-in-limit';

export interface VisitorDeps {
  findDoor: (key: string) => Promise<VisitorDoor | null>;
  /** Limits requests of visitors; 0, or the time in Unix milliseconds of the next try. */
  admitVisitor: (group: string, counters: readonly Counter[]) => Promise<number>;
  /** Public address of the gateway, whose own pages send no `Origin` with a GET. */
  publicUrl: string;
  keyLimit?: { addressOf: (request: IncomingMessage) => string };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

const wrongOrigin = () => forbidden('The key does not allow this origin', 'origin_not_allowed');

/** The key of a request and its origin. From here on the browser may read the answer, errors included. */
export async function openDoor(
  { findDoor, publicUrl }: VisitorDeps,
  { request, response }: Exchange,
  key: string,
): Promise<{ door: VisitorDoor; origin: string }> {
  const { origin } = request.headers;
  const own = new URL(publicUrl).origin;
  const isOwnRead =
    request.method === 'GET' && origin === undefined && request.headers['sec-fetch-site'] === 'same-origin';
  if (!isOwnRead && (origin === undefined || origin === 'null')) throw wrongOrigin();
  const door = await findDoor(key);
  if (door === null) throw unauthorized('unknown_key');
  response.setHeader('Vary', 'Origin');
  if (isOwnRead) return { door, origin: own };
  if (!isListedOrigin(door.origins, origin)) throw wrongOrigin();
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
  return { door, origin };
}

/** The visitor of a request with a token of this key and origin. */
export async function requireVisitor(
  deps: VisitorDeps,
  exchange: Exchange,
  key: string,
): Promise<{ door: VisitorDoor; visitor: Visitor }> {
  const { door, origin } = await openDoor(deps, exchange, key);
  const [, token = ''] = /^Bearer +([^\s]+) *$/i.exec(exchange.request.headers.authorization ?? '') ?? [];
  const session = await visitorOfToken(door, token);
  if (session === null || session.origin !== origin) throw unauthorized('no_session');
  await admit(deps, exchange, door, session.visitor);
  return { door, visitor: session.visitor };
}

/** Counts a request for its visitor, address and key, or throws 429. */
export async function admit(
  { admitVisitor, keyLimit }: VisitorDeps,
  { request }: Exchange,
  { id, limits }: VisitorDoor,
  { subject }: Visitor,
): Promise<void> {
  const retryAtMs = await admitVisitor(id, [
    { name: `visitor:${subject}`, limit: limits.perVisitor },
    { name: `address:${clientAddress(request, keyLimit)}`, limit: limits.perAddress },
    { name: 'key', limit: limits.perKey },
  ]);
  if (retryAtMs === Infinity) throw unavailable('Visitors are temporarily not served', 2, 'limit_unavailable');
  if (retryAtMs > 0)
    throw rateLimited(retryAtMs, 'too_many_requests', 'Too many requests of the visitor, the address or the key');
}

const visitorPath = /^\/v1\/widget\/(sessions|messages|stream)(\?|$)/;

export const isVisitorPreflight = ({ method, url }: IncomingMessage): boolean =>
  method === 'OPTIONS' && visitorPath.test(url!);

/** Answers the preflight of a page: 204 for an origin of the key, else 403. */
export async function answerPreflight(
  { findDoor }: Pick<VisitorDeps, 'findDoor'>,
  { request, response }: Exchange,
): Promise<void> {
  const key = new URL(request.url!, 'http://visitors').searchParams.get('key') ?? '';
  const door = await findDoor(key);
  const { origin } = request.headers;
  response.setHeader('Vary', 'Origin');
  if (door === null || !isListedOrigin(door.origins, origin)) {
    response.writeHead(403).end();
    return;
  }
  response
    .writeHead(204, {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID',
      // Short, so that a page of a removed origin is soon refused.
      'Access-Control-Max-Age': '600',
    })
    .end();
}
