import type { Permission, ResourceSet } from '@parley/contracts';
import { type Db, createDb, newId } from '@parley/db';
import { createApiKey, revokeApiKey } from '@parley/identity';
import { type Entities, createEntities } from '@parley/entities';
import { silentLogger } from '@parley/service';
import request from 'supertest';
import { type DataDeps, createDataApp } from '../app';

export interface KeyOptions {
  tenant: number;
  environment?: 'development' | 'production';
  permissions?: Permission[];
  role?: string;
  expiresAt?: Date;
}

type Method = 'get' | 'post' | 'patch' | 'delete' | 'put';

/** The data service with its own database, called over HTTP. */
export interface TestApi {
  db: Db;
  entities: Entities;
  database: { url: string };
  /** Creates an organization and returns its number. */
  organization(): Promise<number>;
  key(options: KeyOptions): Promise<string>;
  revokedKey(options: KeyOptions): Promise<string>;
  /** Pushes definitions through `POST /v1/sync` with a new key. */
  push(options: KeyOptions, resources: ResourceSet): Promise<void>;
  call(
    method: Method,
    path: string,
    key?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): request.Test;
  close(): Promise<void>;
}

/**
 * `database`: from createTestDatabase; `close` drops it. `timeoutMs`: the limit of its statements.
 */
export function createTestApi(
  database: { url: string; drop(): Promise<void>; timeoutMs?: number },
  deps: Partial<DataDeps> = {},
): TestApi {
  const db = createDb({ databaseUrl: database.url, poolSize: 6, timeoutMs: database.timeoutMs });
  const entities = createEntities({ db });
  const app = createDataApp({
    db,
    entities,
    log: silentLogger(),
    checkResponses: true,
    requestReindexing: () => {},
    ...deps,
  });

  const call: TestApi['call'] = (method, path, key, body, headers = {}) => {
    const test = request(app)[method](path).set(headers);
    if (key !== undefined) void test.set('Authorization', `Bearer ${key}`);
    if (body === undefined) return test;
    return typeof body === 'string'
      ? test
          .set('Content-Type', 'application/json')
          .serialize((text) => text)
          .send(body)
      : test.send(body as object);
  };
  const key = async ({
    environment = 'development',
    permissions = ['*'],
    ...options
  }: KeyOptions) => createApiKey(db, { name: 'test', environment, permissions, ...options });

  return {
    db,
    entities,
    database,
    call,
    async organization() {
      const id = newId('org');
      const { rows } = await db.pool.query<{ no: number }>(
        'insert into organizations (id, slug, name, updated_at) values ($1, lower($1), $1, now()) returning no',
        [id],
      );
      return rows[0]!.no;
    },
    key: async (options) => (await key(options)).key,
    async revokedKey(options) {
      const created = await key(options);
      await revokeApiKey(db, options, created.id);
      return created.key;
    },
    async push(options, resources) {
      const { key: syncKey } = await key({ ...options, permissions: ['sync'], role: undefined });
      const response = await call('post', '/v1/sync', syncKey, { resources });
      if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    },
    async close() {
      await entities.settled();
      await db.close();
      await database.drop();
    },
  };
}
