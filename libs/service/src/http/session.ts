import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, type SignedIn, environmentSchema } from '@parley/contracts';
import { badRequest, forbidden, unauthorized } from './errors';

/**
 * Looks up the token of a session. `organizationId`: the organization in which the person's role is
 * needed. Null when the session is unknown or has ended. Rejects when the address of the request
 * has sent too many unknown ones.
 */
export type FindSession = (
  token: string,
  organizationId: string | undefined,
  request: IncomingMessage,
) => Promise<SignedIn | null>;

/** Browsers accept the prefix only over HTTPS, for this host alone and for every path. */
const securePrefix = '__Host-';
const sessionCookie = 'parley_session';

/**
 * The token of the request's session; undefined without one. Only the cookie is read,
 * never the address.
 */
export const sessionTokenOf = (request: IncomingMessage): string | undefined =>
  // A request with this header is one of its API key, whatever else it has.
  request.headers.authorization === undefined ? readCookie(request, sessionCookie) : undefined;

/**
 * A cookie that `setCookie` has set. On plain HTTP only this machine has one without the prefix.
 */
export function readCookie(request: IncomingMessage, name: string): string | undefined {
  const header = request.headers.cookie ?? '';
  return (
    onlyValueOf(header, securePrefix + name) ??
    (isLocal(request) ? onlyValueOf(header, name) : undefined)
  );
}

/**
 * The value of a cookie. Names are compared byte for byte: browsers keep other hosts from setting a
 * name with the prefix, and not from setting one that becomes it when it is trimmed, decoded or
 * folded. A browser sends a name with the prefix once, so a name that is sent twice has no value.
 */
function onlyValueOf(header: string, name: string): string | undefined {
  let found: string | undefined;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1 || withoutSpace(pair.slice(0, at)) !== name) continue;
    if (found !== undefined) return undefined;
    found = withoutSpace(pair.slice(at + 1));
  }
  return found;
}

/** Without spaces and tabs around it. `trim` also removes others, such as 0xA0 (RFC 6265, 5.2). */
function withoutSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start])) start += 1;
  while (end > start && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\t';

export interface NewCookie {
  name: string;
  /** Empty: the cookie is removed. */
  value: string;
  maxAgeSeconds: number;
}

export const sessionCookieOf = (token: string, expiresAt: Date): NewCookie => ({
  name: sessionCookie,
  value: token,
  maxAgeSeconds: Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1_000)),
});
export const noSessionCookie: NewCookie = { name: sessionCookie, value: '', maxAgeSeconds: 0 };

/**
 * Sets a cookie that scripts cannot read. `publicUrl` is asked over HTTPS also if its proxy
 * does not say so.
 */
export function setCookie(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { name, value, maxAgeSeconds }: NewCookie,
  publicUrl: string,
): void {
  const secure = !isLocal(request) || isHttps(request, publicUrl);
  const text = `${secure ? securePrefix : ''}${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  response.appendHeader('Set-Cookie', secure ? `${text}; Secure` : text);
}

/** Refuses to sign anyone in over plain HTTP, except on this machine. */
export function requireHttps(request: IncomingMessage, publicUrl: string): void {
  if (isHttps(request, publicUrl) || isLocal(request)) return;
  throw forbidden(
    'Signing in requires HTTPS. Open this address with https://, or use http://localhost',
    'https_required',
  );
}

/**
 * The gateway names the protocol and host that the client asked, and replaces what the client
 * itself wrote there.
 */
const hostOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-forwarded-host'] ?? headers.host ?? '').toLowerCase();

const isHttps = (request: IncomingMessage, publicUrl: string): boolean =>
  request.headers['x-forwarded-proto'] === 'https' ||
  (publicUrl.startsWith('https:') && new URL(publicUrl).host === hostOf(request));

const isLocal = (request: IncomingMessage): boolean =>
  request.headers['x-forwarded-proto'] !== 'https' &&
  /^(([a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(hostOf(request));

/**
 * Refuses a change that a page of another site may have sent. Browsers send one of the headers
 * with every change.
 */
export function requireSameSite(request: IncomingMessage): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  const isNamed = site !== undefined || origin !== undefined;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  const isOwnOrigin = origin === undefined || isOriginOf(origin, hostOf(request));
  if (isNamed && isOwnSite && isOwnOrigin) return;
  throw forbidden('A page of another site must not send this request', 'cross_site');
}

/** `null`, the origin of a sandboxed page, is no URL. */
const isOriginOf = (origin: string, host: string): boolean => URL.parse(origin)?.host === host;

/**
 * The caller of a request with a session, in the organization and environment that
 * its headers name.
 */
export function personIn(request: IncomingMessage, { membership, ...person }: SignedIn): Caller {
  const { 'parley-organization': organization, 'parley-environment': named } = request.headers;
  if (!organization)
    throw badRequest(
      'A session needs the header Parley-Organization',
      undefined,
      'missing_organization',
    );
  const environment = environmentSchema.safeParse(named);
  if (!environment.success)
    throw badRequest(
      'A session needs the header Parley-Environment: development or production',
      undefined,
      'missing_environment',
    );
  if (membership === null)
    throw forbidden('You are not a member of this organization', 'not_a_member');
  return { type: 'person', ...person, environment: environment.data, ...membership };
}

/** The person of a request's session. */
export async function requireSession(
  request: IncomingMessage,
  token: string | undefined,
  find: FindSession | undefined,
): Promise<SignedIn> {
  const organization = request.headers['parley-organization'];
  const named = typeof organization === 'string' ? organization.slice(0, 200) : undefined;
  const person = token === undefined ? null : ((await find?.(token, named, request)) ?? null);
  if (person === null) throw unauthorized('no_session');
  if (request.method !== 'GET' && request.method !== 'HEAD') requireSameSite(request);
  return person;
}
