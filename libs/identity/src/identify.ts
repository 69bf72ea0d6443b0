import { type Caller, bearerTokenOf } from '@parley/contracts';
import type { Db } from '@parley/db';
import { createApiKeyCheck } from './api-keys';
import type { KeyLimit } from './unknown-keys';

/** The part of a request that carries credentials. */
export interface Credentials {
  headers: { authorization?: string };
}

/**
 * Returns the caller of a request; null without valid credentials. Rejects when the database fails,
 * and with the limit's `refusal`.
 */
export function createIdentify<R extends Credentials>(
  db: Db,
  limit?: KeyLimit<R>,
): (request: R) => Promise<Caller | null> {
  const checkKey = createApiKeyCheck(db, undefined, limit);
  return async (request) => {
    const token = tokenOf(request);
    return token ? checkKey(token, () => limit?.addressOf(request) ?? '') : null;
  };
}

/** The token of a request with an API key. */
export const tokenOf = ({ headers }: Credentials): string | undefined =>
  bearerTokenOf(headers.authorization);
