import type { Caller } from '@parley/contracts';
import type { Db } from '@parley/db';
import { createApiKeyCheck } from './api-keys';
import { UnknownKeysLimited } from './unknown-keys';

/** The part of a request that carries credentials. */
interface Credentials {
  headers: { authorization?: string };
}

export interface KeyLimit<R> {
  /** The address of the client of a request. */
  addressOf: (request: R) => string;
  /** Maximum number of unknown keys that are looked up for an address in a minute. */
  unknownKeysPerMinute: number;
}

/** An address that must not look up further keys before this time, in Unix milliseconds. */
export interface Limited {
  retryAtMs: number;
}

/** Returns the caller of a request; null without valid credentials. Rejects when the database fails. */
export function createIdentify<R extends Credentials>(
  db: Db,
  limit?: KeyLimit<R>,
): (request: R) => Promise<Caller | Limited | null> {
  const checkKey = createApiKeyCheck(db, undefined, limit?.unknownKeysPerMinute);
  return async (request) => {
    const { authorization } = request.headers;
    const token = authorization === undefined ? null : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    if (!token) return null;
    return checkKey(token, limit?.addressOf(request)).catch((error: unknown) => {
      if (error instanceof UnknownKeysLimited) return { retryAtMs: error.retryAtMs };
      throw error;
    });
  };
}
