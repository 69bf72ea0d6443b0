import type { IncomingMessage } from 'node:http';
import { isListedOrigin } from '@parley/contracts';
import { type Visitor, type Website, visitorOfToken } from '@parley/identity';
import { type Counter, type RedisConnection, createStrictLimit } from '@parley/redis';
import { type Exchange, forbidden, rateLimited, unauthorized, unavailable } from '@parley/service';
import { clientAddress } from './sign-in-limit';

export interface VisitorDeps {
  /** The address is that of the client of the request. */
  findWebsite: (key: string, address?: string) => Promise<Website | null>;
  /** Limits requests of visitors; 0, or the time in Unix milliseconds of the next try. */
  admitVisitor: (group: string, counters: readonly Counter[]) => Promise<number>;
  /** Public address of the gateway, whose own pages send no `Origin` with a GET. */
  publicUrl: string;
  keyLimit?: { addressOf: (request: IncomingMessage) => string };
}

export const createVisitorLimit = (redis: RedisConnection): VisitorDeps['admitVisitor'] =>
  createStrictLimit(redis, { name: 'visitors', windowMs: 60_000 });

const wrongOrigin = () => forbidden('The key does not allow this origin', 'origin_not_allowed');

/**
 * The key of a request and its origin. From here on the browser may read the answer,
 * errors included.
 */
export async function admitOrigin(
  { findWebsite, publicUrl, keyLimit }: VisitorDeps,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  key: string,
): Promise<{ website: Website; origin: string }> {
  const { origin } = request.headers;
  const own = new URL(publicUrl).origin;
  const isOwnRead =
    request.method === 'GET' &&
    origin === undefined &&
    request.headers['sec-fetch-site'] === 'same-origin';
  if (!isOwnRead && (origin === undefined || origin === 'null')) throw wrongOrigin();
  const website = await findWebsite(key, clientAddress(request, keyLimit));
  if (website === null) throw unauthorized('unknown_key');
  response.setHeader('Vary', 'Origin');
  if (isOwnRead) return { website, origin: own };
  if (!isListedOrigin(website.origins, origin)) throw wrongOrigin();
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
  return { website, origin };
}

interface SignedVisitor {
  website: Website;
  visitor: Visitor;
}

const visitors = new WeakMap<object, SignedVisitor>();

/** The visitor of a request whose operation requires one. */
export const visitorOf = (context: object): SignedVisitor => visitors.get(context)!;

/**
 * Lets only requests with a token of their key and origin pass. The visitor is then the caller: one
 * of the key's organization, without a permission.
 */
export const createVisitorGuard =
  (deps: VisitorDeps) =>
  async (exchange: Exchange): Promise<void> => {
    const key = keyOf(exchange.request);
    const { website, origin } = await admitOrigin(deps, exchange, key);
    const [, token = ''] =
      /^Bearer +([^\s]+) *$/i.exec(exchange.request.headers.authorization ?? '') ?? [];
    const session = await visitorOfToken(website, token);
    if (session === null || session.origin !== origin) throw unauthorized('no_session');
    const { visitor } = session;
    await admit(deps, exchange, website, visitor);
    visitors.set(exchange, { website, visitor });
    const { id, name, scope } = website;
    exchange.knownCaller = {
      ...scope,
      type: 'api_key',
      id: `${id}:${visitor.subject}`,
      name,
      permissions: new Set(),
      role: null,
    };
    exchange.checkAgain = async () => {
      const isValid = session.expiresAtMs > Date.now() && (await deps.findWebsite(key)) !== null;
      if (!isValid) throw unauthorized('no_session');
    };
  };

const keyOf = ({ url }: IncomingMessage): string =>
  new URL(url!, 'http://visitors').searchParams.get('key') ?? '';

/** Counts a request for its visitor, address and key, or throws 429. */
export async function admit(
  { admitVisitor, keyLimit }: VisitorDeps,
  { request }: Pick<Exchange, 'request'>,
  { id, limits }: Website,
  { subject }: Visitor,
): Promise<void> {
  const retryAtMs = await admitVisitor(id, [
    { name: `visitor:${subject}`, limit: limits.perVisitor },
    { name: `address:${clientAddress(request, keyLimit)}`, limit: limits.perAddress },
    { name: 'key', limit: limits.perKey },
  ]);
  if (retryAtMs === Infinity)
    throw unavailable('Visitors are temporarily not served', 2, 'limit_unavailable');
  if (retryAtMs > 0)
    throw rateLimited(
      retryAtMs,
      'too_many_requests',
      'Too many requests of the visitor, the address or the key',
    );
}

const visitorPath = /^\/v1\/widget\/(sessions|messages|stream)(\?|$)/;

export const isVisitorPreflight = ({ method, url }: IncomingMessage): boolean =>
  method === 'OPTIONS' && visitorPath.test(url!);

/** Answers the preflight of a page: 204 for an origin of the key, else 403. */
export async function answerPreflight(
  { findWebsite, keyLimit }: Pick<VisitorDeps, 'findWebsite' | 'keyLimit'>,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
): Promise<void> {
  const website = await findWebsite(keyOf(request), clientAddress(request, keyLimit));
  const { origin } = request.headers;
  response.setHeader('Vary', 'Origin');
  if (website === null || !isListedOrigin(website.origins, origin)) {
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
