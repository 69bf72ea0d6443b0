import type { Caller } from '@parley/contracts';
import type { Db } from '@parley/db';
import { createApiKeyCheck } from './api-keys';

/** The part of a request that carries credentials. */
interface Credentials {
  headers: { authorization?: string };
}

/** Returns the caller of a request; null without valid credentials. Rejects when the database fails. */
export function createIdentify(db: Db): (request: Credentials) => Promise<Caller | null> {
  const checkKey = createApiKeyCheck(db);
  return async ({ headers: { authorization } }) => {
    const token = authorization === undefined ? null : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    return token ? checkKey(token) : null;
  };
}
