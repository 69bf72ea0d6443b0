import { LRUCache } from 'lru-cache';
import { type KeyLimit, type UnknownKind, createUnknownKeyLimit } from './unknown-keys';

/** 32 random bytes in base64url. The link of an invitation in an e-mail has twice as many. */
const tokenPattern = /^(?:[A-Za-z0-9_-]{43}){1,2}$/;

const maxTokens = 20_000;
/** A token that does not exist cannot exist later, because tokens are 32 random bytes. */
const unknownMs = 60_000;

/**
 * Runs `find`, which resolves with null when the token does not exist. Resolves with null without
 * it for a token that cannot exist.
 */
export type TokenLookUp<R> = <T>(
  request: R,
  token: string,
  find: () => Promise<T | null>,
) => Promise<T | null>;

/**
 * Returns the look-up of random tokens, which any client can send. A malformed token is refused
 * without a query, and an unknown one is looked up once a minute. Rejects with the limit's
 * `refusal` when the address of the request has sent too many unknown ones. A token that existed at
 * its last look-up in this process does not depend on what else its address sends.
 */
export function createTokenLookUp<R>(
  kind: UnknownKind,
  limit: KeyLimit<R> | undefined,
): TokenLookUp<R> {
  if (limit === undefined)
    return async (_request, token, find) => (tokenPattern.test(token) ? find() : null);
  const lookUp = createUnknownKeyLimit(kind, limit);
  const known = new LRUCache<string, true>({ max: maxTokens });
  const unknown = new LRUCache<string, true>({ max: maxTokens, ttl: unknownMs });
  return async (request, token, find) => {
    if (!tokenPattern.test(token) || unknown.has(token)) return null;
    const found = await (known.has(token) ? find() : lookUp(limit.addressOf(request), find));
    if (found === null) {
      known.delete(token);
      unknown.set(token, true);
    } else known.set(token, true);
    return found;
  };
}
