import { createTestDatabase, type TestDatabase } from '@parley/testing';
import { createDb, type Db } from './client';
import { createIdempotencyStore } from './idempotency';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const operation = (key: string, body = 'body') => ({
  organizationId: 'org_a',
  apiKeyId: 'key_a',
  operation: 'POST /v1/data/order',
  key,
  requestHash: Buffer.from(body),
});

describe('createIdempotencyStore', () => {
  it('lets one of many simultaneous requests run', async () => {
    const store = createIdempotencyStore(db.pool);
    const states = await Promise.all(Array.from({ length: 20 }, () => store.begin(operation('burst'))));
    expect(states.filter(({ state }) => state === 'started')).toHaveLength(1);
    expect(states.filter(({ state }) => state === 'running')).toHaveLength(19);
  });

  it('replays the first answer and refuses another body', async () => {
    const store = createIdempotencyStore(db.pool);
    await store.begin(operation('replay'));
    await store.finish(operation('replay'), 201, '{"id":"x"}');
    expect(await store.begin(operation('replay'))).toEqual({ state: 'done', status: 201, body: '{"id":"x"}' });
    expect(await store.begin(operation('replay', 'other'))).toEqual({ state: 'other_request' });
  });

  it('gives an abandoned key back, and never an answered one', async () => {
    const store = createIdempotencyStore(db.pool);
    await store.begin(operation('abandon'));
    await store.abandon(operation('abandon'));
    expect(await store.begin(operation('abandon'))).toEqual({ state: 'started' });
    await store.finish(operation('abandon'), 200, '{}');
    await store.abandon(operation('abandon'));
    expect(await store.begin(operation('abandon'))).toMatchObject({ state: 'done' });
  });

  it('lets a retry take over from a process that died, and forgets after 24 hours', async () => {
    const store = createIdempotencyStore(db.pool);
    await store.begin(operation('died'));
    await db.pool.query(`update idempotency_records set locked_until = now() - interval '1 s' where key = 'died'`);
    expect(await store.begin(operation('died', 'other'))).toEqual({ state: 'other_request' });
    expect(await store.begin(operation('died'))).toEqual({ state: 'started' });
    await store.finish(operation('died'), 200, '{}');
    await db.pool.query(`update idempotency_records set expires_at = now() - interval '1 s' where key = 'died'`);
    expect(await store.begin(operation('died', 'other'))).toEqual({ state: 'started' });
    await db.pool.query(`update idempotency_records set expires_at = now() - interval '1 s' where key = 'died'`);
    expect(await store.sweep()).toBe(1);
  });
});
