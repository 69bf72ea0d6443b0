import { genericPlans, openTestDatabase } from '@parley/testing';
import { createDb, type Db } from './client';
import { createIdempotencyStore } from './idempotency';

let db: Db;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});

afterAll(() => db.close());

const operation = (key: string, body = 'body') => ({
  tenant: 9,
  callerId: 'key_a',
  operation: 'POST /v1/data/order',
  key,
  requestHash: Buffer.from(body),
});

const store = () => createIdempotencyStore(db);

async function claim(key: string) {
  const result = await store().begin(operation(key));
  if (result.state !== 'started') throw new Error(result.state);
  return result.claim;
}

const set = (key: string, column: string) =>
  db.pool.query(
    `update idempotency_records set ${column} = now() - interval '1 s' where key = $1`,
    [key],
  );

describe('createIdempotencyStore', () => {
  it('admits one of many simultaneous requests', async () => {
    const states = await Promise.all(
      Array.from({ length: 20 }, () => store().begin(operation('burst'))),
    );
    expect(states.filter(({ state }) => state === 'started')).toHaveLength(1);
    expect(states.filter(({ state }) => state === 'running')).toHaveLength(19);
  });

  it('returns the stored answer and refuses another body', async () => {
    expect(await store().finish(await claim('replay'), 201, '{"id":"x"}')).toBe(true);
    expect(await store().begin(operation('replay'))).toEqual({
      state: 'done',
      status: 201,
      body: '{"id":"x"}',
    });
    expect(await store().begin(operation('replay', 'other'))).toEqual({ state: 'other_request' });
  });

  it('releases the claim of a failed request, but not a key with an answer', async () => {
    const first = await claim('abandon');
    await store().abandon(first);
    const second = await claim('abandon');
    expect(second.id).toBe(first.id);
    expect(second.token).not.toBe(first.token);
    await store().finish(second, 200, '{}');
    await store().abandon(second);
    expect(await store().begin(operation('abandon'))).toMatchObject({ state: 'done' });
  });

  it('an expired claim is taken over, and its first owner can no longer store an answer', async () => {
    const expired = await claim('died');
    expect(await store().begin(operation('died'))).toEqual({ state: 'running' });
    await set('died', 'locked_until');
    expect(await store().begin(operation('died', 'other'))).toEqual({ state: 'other_request' });
    const next = await claim('died');
    expect(next.id).toBe(expired.id);
    await store().abandon(expired);
    expect(await store().begin(operation('died'))).toEqual({ state: 'running' });
    expect(await store().finish(expired, 200, '"expired"')).toBe(false);
    expect(await store().finish(next, 200, '"next"')).toBe(true);
    expect(await store().begin(operation('died'))).toEqual({
      state: 'done',
      status: 200,
      body: '"next"',
    });
  });

  it('does not take over a claim that is renewed', async () => {
    const slow = await claim('slow');
    await set('slow', 'locked_until');
    await store().renew(slow);
    expect(await store().begin(operation('slow'))).toEqual({ state: 'running' });
  });

  it('stores an answer in the transaction of the work, or neither', async () => {
    const held = await claim('together');
    const work = db.transaction(async (client) => {
      await createIdempotencyStore(client).finish(held, 201, '{}');
      throw new Error('the work failed');
    });
    await expect(work).rejects.toThrow('the work failed');
    await store().abandon(held);
    expect(await store().begin(operation('together'))).toMatchObject({ state: 'started' });
  });

  it('deletes a record after 24 hours', async () => {
    const first = await claim('old');
    await store().finish(first, 200, '{}');
    await set('old', 'expires_at');
    const result = await store().begin(operation('old', 'other'));
    expect(result).toMatchObject({ state: 'started' });
    expect(result.state === 'started' && result.claim.id).not.toBe(first.id);
    await set('old', 'expires_at');
    expect(await store().sweep()).toBe(1);
  });

  it('deletes expired records in batches, found by index', async () => {
    await db.pool.query('truncate idempotency_records');
    await db.pool.query(
      `insert into idempotency_records (tenant, caller_id, operation, key, id, request_hash, created_at, locked_until, expires_at)
       select 9, 'key_b', 'POST /', n, 'many_' || n, '', now(), now(), now() - n * interval '1 s' + interval '499.5 s' from generate_series(1, 3000) n`,
    );
    await db.pool.query('analyze idempotency_records');
    const plans = await genericPlans(db, async (noting) =>
      expect(await createIdempotencyStore(noting).sweep()).toBe(2_501),
    );
    expect(plans[0]).toMatch(/Index Scan using idempotency_records(_part\d)?_expires_at_idx/);
    // An empty partition is read as a whole.
    if (process.env.PARLEY_TEST_PARTITIONS !== 'true') expect(plans[0]).not.toMatch(/Seq Scan/);
  });
});
