import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type RedisConnection, createStrictLimit } from '@parley/redis';
import { normalEmail } from '@parley/identity';
import { rateLimited, unavailable } from '@parley/service';

export interface SignInLimits {
  /** Attempts for one e-mail address from one network address. */
  perPerson: number;
  /** Attempts from one network address. */
  perAddress: number;
}

/** Counts an attempt, or throws 429 or 503. */
export type AdmitSignIn = (email: string, address: string) => Promise<void>;

const windowMs = 5 * 60_000;
/**
 * Attempts for one e-mail address from everywhere are limited to this many times `perPerson`:
 * 20 in five minutes by default, too few to guess a password. A lower limit would let anyone
 * lock a person out.
 */
const addressesPerPerson = 4;

/**
 * Limits attempts to sign in, those that succeed included: otherwise the answers would show
 * which e-mail addresses exist. While Redis does not answer, no one signs in, because guesses
 * would have no limit.
 */
export function createSignInLimit(
  redis: RedisConnection,
  { perPerson, perAddress }: SignInLimits,
  name: 'sign-in' | 'password-reset' = 'sign-in',
): AdmitSignIn {
  const limit = createStrictLimit(redis, { name, windowMs });
  return async (email, address) => {
    const person = createHash('sha256').update(normalEmail(email)).digest('base64url');
    const counters = [
      { name: person, limit: perPerson },
      { name: 'all', limit: perAddress },
    ];
    const retryAtMs =
      (await limit(address, counters)) ||
      (await limit(person, [{ name: 'all', limit: perPerson * addressesPerPerson }]));
    if (retryAtMs === Infinity)
      throw unavailable('Signing in is temporarily unavailable', 2, 'sign_in_unavailable');
    if (retryAtMs > 0)
      throw rateLimited(retryAtMs, 'too_many_attempts', 'Too many attempts to sign in');
  };
}

/**
 * The network address of a request's client, for limits and for people to recognize their sessions.
 */
export const clientAddress = (
  request: IncomingMessage,
  keyLimit: { addressOf: (request: IncomingMessage) => string } | undefined,
): string => keyLimit?.addressOf(request) ?? request.socket.remoteAddress ?? '';
