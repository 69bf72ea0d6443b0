import type { Caller } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type LookUpLimit, createApiKeyCheck } from './api-keys';

/** The part of a request that carries credentials. */
interface Credentials {
  headers: { authorization?: string };
}

export interface KeyLimit<R> extends LookUpLimit {
  /** The address of the client of a request. */
  addressOf: (request: R) => string;
}

/** Returns the caller of a request; null without valid credentials. Rejects when the database fails, and with the limit's `refusal`. */
export function createIdentify<R extends Credentials>(
  db: Db,
  limit?: KeyLimit<R>,
): (request: R) => Promise<Caller | null> {
  const checkKey = createApiKeyCheck(db, undefined, limit);
  return async (request) => {
    const { authorization } = request.headers;
    const token = authorization === undefined ? null : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    return token ? checkKey(token, () => limit?.addressOf(request) ?? '') : null;
  };
}
