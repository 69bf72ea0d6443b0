import { createHash, randomBytes } from 'node:crypto';
import type * as jose from 'jose';
import { type Json, findUnstorable } from '@parley/contracts';
import type { Website } from './publishable-keys';

/** Someone who uses the widget of a website. */
export interface Visitor {
  /**
   * `anonymous:` and the hash of the visitor's own id, or `identified:` and the id that the
   * customer's server signed.
   */
  subject: string;
  /** What the customer's server signed about the visitor. */
  params: Record<string, Json>;
}

/** Loaded at the first visitor: it takes 3 MB (docs/adr/0076). */
let loadedJose: Promise<typeof jose> | undefined;
const loadJose = () => (loadedJose ??= import('jose'));

const sessionMinutes = 30;
/** An identity is valid for 5 minutes from its `iat`, and clocks may differ by 10 s. */
const clockToleranceSeconds = 10;
const maxAgeSeconds = 300 - clockToleranceSeconds;
const maxParamsBytes = 4_096;
const maxSubjectLength = 200;
const ownClaims = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);
const audience = 'widget';

const visitorIdPattern = /^[A-Za-z0-9_-]{43}$/;

/**
 * An anonymous visitor. Only the browser keeps the id: threads have its hash, so people who read
 * threads cannot act as the visitor. An id of another form is replaced.
 */
export function anonymousVisitor(known: string | undefined): {
  visitor: Visitor;
  visitorId: string;
} {
  const visitorId =
    known !== undefined && visitorIdPattern.test(known)
      ? known
      : randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(visitorId).digest('base64url');
  return { visitor: { subject: `anonymous:${hash}`, params: {} }, visitorId };
}

/** The visitor of a JWT that the customer's server has signed; null when it is not valid. */
export async function identifiedVisitor(
  website: Website,
  identity: string,
): Promise<Visitor | null> {
  const claims = await verify(identity, website.identityKey, {
    requiredClaims: ['sub', 'iat'],
    maxTokenAge: maxAgeSeconds,
    clockTolerance: clockToleranceSeconds,
  });
  if (claims === null || typeof claims.sub !== 'string') return null;
  const params = Object.fromEntries(
    Object.entries(claims).filter(([name]) => !ownClaims.has(name)),
  );
  const { sub } = claims;
  const isUsable = sub !== '' && sub.length <= maxSubjectLength && findUnstorable(params) === null;
  if (!isUsable || Buffer.byteLength(JSON.stringify(params)) > maxParamsBytes) return null;
  return { subject: `identified:${sub}`, params: params as Record<string, Json> };
}

/** A token for 30 minutes, bound to the key, the visitor and the origin. */
export async function createVisitorToken(
  website: Website,
  { subject, params }: Visitor,
  origin: string,
): Promise<{ token: string; expiresAt: Date }> {
  const expiresAt = new Date(Math.floor(Date.now() / 1_000) * 1_000 + sessionMinutes * 60_000);
  const { SignJWT } = await loadJose();
  const token = await new SignJWT({ origin, params })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(website.id)
    .setAudience(audience)
    .setSubject(subject)
    .setExpirationTime(expiresAt)
    .sign(website.tokenKey);
  return { token, expiresAt };
}

interface TokenClaims {
  sub: string;
  /** In seconds. */
  exp: number;
  origin: string;
  params: Visitor['params'];
}

/**
 * The visitor, the origin and the end of a token; null when it is forged, has expired or
 * belongs to another key.
 */
export async function visitorOfToken(
  website: Website,
  token: string,
): Promise<{ visitor: Visitor; origin: string; expiresAtMs: number } | null> {
  const claims = await verify(token, website.tokenKey, {
    issuer: website.id,
    audience,
    requiredClaims: ['exp', 'sub'],
  });
  if (claims === null) return null;
  const { sub, exp, origin, params } = claims as unknown as TokenClaims;
  return { visitor: { subject: sub, params }, origin, expiresAtMs: exp * 1_000 };
}

/**
 * The external id of the visitor's thread. The kind of visitor is a part of it, so no anonymous
 * token has that of an identified one.
 */
export const threadOfVisitor = ({ id }: Website, { subject }: Visitor): string =>
  `widget:${id}:${subject}`;

async function verify(jwt: string, key: Buffer, options: jose.JWTVerifyOptions) {
  const { jwtVerify } = await loadJose();
  try {
    return (await jwtVerify(jwt, key, { ...options, algorithms: ['HS256'] })).payload;
  } catch {
    return null;
  }
}
