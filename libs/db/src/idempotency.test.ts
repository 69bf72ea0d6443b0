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
  tenant: 9,
  callerId: 'key_a',
  operation: 'POST /v1/data/order',
  key,
  requestHash: Buffer.from(body),
});

const store = () => createIdempotencyStore(db);

async function claim(key: string) {
  const begun = await store().begin(operation(key));
  if (begun.state !== 'started') throw new Error(begun.state);
  return begun.claim;
}

const set = (key: string, column: string) =>
  db.pool.query(`update idempotency_records set ${column} = now() - interval '1 s' where key = $1`, [key]);

describe('createIdempotencyStore', () => {
  it('lets one of many simultaneous requests run', async () => {
    const states = await Promise.all(Array.from({ length: 20 }, () => store().begin(operation('burst'))));
    expect(states.filter(({ state }) => state === 'started')).toHaveLength(1);
    expect(states.filter(({ state }) => state === 'running')).toHaveLength(19);
  });

  it('replays the first answer and refuses another body', async () => {
    expect(await store().finish(await claim('replay'), 201, '{"id":"x"}')).toBe(true);
    expect(await store().begin(operation('replay'))).toEqual({ state: 'done', status: 201, body: '{"id":"x"}' });
    expect(await store().begin(operation('replay', 'other'))).toEqual({ state: 'other_request' });
  });

  it('gives an abandoned key back, and never an answered one', async () => {
    const first = await claim('abandon');
    await store().abandon(first);
    const second = await claim('abandon');
    expect(second.id).toBe(first.id);
    expect(second.token).not.toBe(first.token);
    await store().finish(second, 200, '{}');
    await store().abandon(second);
    expect(await store().begin(operation('abandon'))).toMatchObject({ state: 'done' });
  });

  it('lets a retry take over from a process that died, which can no longer answer', async () => {
    const dead = await claim('died');
    expect(await store().begin(operation('died'))).toEqual({ state: 'running' });
    await set('died', 'locked_until');
    expect(await store().begin(operation('died', 'other'))).toEqual({ state: 'other_request' });
    const next = await claim('died');
    expect(next.id).toBe(dead.id);
    await store().abandon(dead);
    expect(await store().begin(operation('died'))).toEqual({ state: 'running' });
    expect(await store().finish(dead, 200, '"dead"')).toBe(false);
    expect(await store().finish(next, 200, '"next"')).toBe(true);
    expect(await store().begin(operation('died'))).toEqual({ state: 'done', status: 200, body: '"next"' });
  });

  it('waits for a claim that is renewed', async () => {
    const slow = await claim('slow');
    await set('slow', 'locked_until');
    await store().renew(slow);
    expect(await store().begin(operation('slow'))).toEqual({ state: 'running' });
  });

  it('keeps an answer with the work of its transaction, or neither', async () => {
    const held = await claim('together');
    const work = db.transaction(async (client) => {
      await createIdempotencyStore(client).finish(held, 201, '{}');
      throw new Error('the work failed');
    });
    await expect(work).rejects.toThrow('the work failed');
    await store().abandon(held);
    expect(await store().begin(operation('together'))).toMatchObject({ state: 'started' });
  });

  it('forgets after 24 hours', async () => {
    const first = await claim('old');
    await store().finish(first, 200, '{}');
    await set('old', 'expires_at');
    const begun = await store().begin(operation('old', 'other'));
    expect(begun).toMatchObject({ state: 'started' });
    expect(begun.state === 'started' && begun.claim.id).not.toBe(first.id);
    await set('old', 'expires_at');
    expect(await store().sweep()).toBe(1);
  });
});
