import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type RedisConnection, createRateLimiter } from '@parley/redis';
import { normalEmail } from '@parley/identity';
import { rateLimited, unavailable } from '@parley/service';

export interface SignInLimits {
  /** Attempts for one e-mail address from one network address. */
  perPerson: number;
  /** Attempts from one network address. */
  perAddress: number;
}

export type SignInLimit = ReturnType<typeof createSignInLimit>;

const windowMs = 5 * 60_000;
/** A sign-in may wait longer for Redis than other requests, which are admitted without its answer. */
const deadlineMs = 1_000;
/**
 * Attempts for one e-mail address from everywhere are limited to this many times `perPerson`: 20 in five minutes by default, too few
 * to guess a password. A lower limit would let anyone lock a person out.
 */
const addressesPerPerson = 4;

/**
 * Limits attempts to sign in, those that succeed included: otherwise the answers would show which e-mail addresses exist. While
 * Redis does not answer, no one signs in, because guesses would have no limit.
 */
export function createSignInLimit(redis: RedisConnection, { perPerson, perAddress }: SignInLimits) {
  const limiters = [
    createRateLimiter({
      redis,
      name: 'sign-in-address',
      limits: { perKey: perPerson, perOrganization: perAddress, windowMs },
      deadlineMs,
      needsRedis: true,
    }),
    createRateLimiter({
      redis,
      name: 'sign-in-person',
      limits: { perKey: perPerson * addressesPerPerson, perOrganization: perPerson * addressesPerPerson, windowMs },
      deadlineMs,
      needsRedis: true,
    }),
  ] as const;
  return {
    /** Counts an attempt, or throws 429 or 503. */
    async admit(email: string, address: string): Promise<void> {
      const person = createHash('sha256').update(normalEmail(email)).digest('base64url');
      const [ofAddress, ofPerson] = limiters;
      const retryAtMs =
        (await ofAddress.admit({ id: `${address} ${person}`, organizationId: address })) ||
        (await ofPerson.admit({ id: person, organizationId: person }));
      if (retryAtMs === Infinity) throw unavailable('Signing in is temporarily unavailable', 2, 'sign_in_unavailable');
      if (retryAtMs > 0) throw rateLimited(retryAtMs, 'too_many_attempts', 'Too many attempts to sign in');
    },
    close: () => limiters.forEach((limiter) => limiter.close()),
  };
}

/** The network address of a request's client, for limits and for people to recognize their sessions. */
export const clientAddress = (
  request: IncomingMessage,
  keyLimit: { addressOf: (request: IncomingMessage) => string } | undefined,
): string => keyLimit?.addressOf(request) ?? request.socket.remoteAddress ?? '';
