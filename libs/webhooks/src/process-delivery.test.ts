import { type Db, createDb } from '@parley/db';
import { genericPlans, openTestDatabase, scansOf, seedOrganization, until } from '@parley/testing';
import type { DeliveryStatus } from './delivery';
import { createInbox } from './inbox';
import {
  finishDeliveries,
  findOverdue,
  loadPending,
  replayDeliveries,
  retryUnattributed,
  sweepDeliveries,
} from './process-delivery';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterEach(() => db.pool.query('truncate webhook_deliveries'));
afterAll(() => db.close());

/** Stores a delivery received `daysAgo`; returns its id. */
async function store(
  deliveryId: string,
  status: DeliveryStatus,
  { daysAgo = 0, reason = null as string | null } = {},
) {
  const { id } = await createInbox(db).store({
    provider: 'polar',
    deliveryId,
    path: '/webhook/polar',
    eventType: 'order.paid',
    headers: {},
    body: Buffer.from('{}'),
    tenant: null,
    environment: null,
    isSigned: true,
    status,
    reason,
  });
  await db.pool.query(
    "update webhook_deliveries set received_at = now() - $2 * interval '1 day' where id = $1",
    [id, daysAgo],
  );
  return id;
}
const kept = async () =>
  (await db.pool.query('select delivery_id from webhook_deliveries order by 1')).rows.map(
    (row) => row.delivery_id,
  );
const rowOf = async (id: string) =>
  (
    await db.pool.query(
      'select status, reason, attempts, tenant from webhook_deliveries where id = $1',
      [id],
    )
  ).rows[0];

test('finished deliveries are deleted after doneDays, failed and unattributed ones after openDays, received ones never', async () => {
  const done = ['processed', 'ignored', 'rejected'] as const;
  const open = ['failed', 'unattributed'] as const;
  for (const status of [...done, ...open, 'received'] as const)
    for (const daysAgo of [29, 31, 179, 181, 4_000])
      await store(`${status}-${daysAgo}`, status, { daysAgo });
  expect(await sweepDeliveries(db, { doneDays: 30, openDays: 180 })).toBe(3 * 4 + 2 * 2);
  expect(await kept()).toEqual(
    [
      ...done.map((status) => `${status}-29`),
      ...open.flatMap((status) => [29, 31, 179].map((days) => `${status}-${days}`)),
      ...[29, 31, 179, 181, 4_000].map((days) => `received-${days}`),
    ].sort(),
  );
});

test('one sweep deletes more than one batch', async () => {
  await db.pool.query(
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status, received_at)
     select 'd' || n, 'polar', n, '/', '{}', '', 'processed', now() - interval '40 days' from generate_series(1, 4500) n`,
  );
  expect(await sweepDeliveries(db, { doneDays: 30, openDays: 180 })).toBe(4_500);
});

test('a batch of old deliveries is found by index, and one that is replayed at the same time stays', async () => {
  await db.pool.query(
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status, received_at)
     select 'd' || n, 'polar', n, '/', '{}', '', 'processed', now() - n * interval '1 hour' from generate_series(1, 5000) n`,
  );
  await db.pool.query('analyze webhook_deliveries');
  const [plan] = await genericPlans(db, (noting) =>
    sweepDeliveries(noting, { doneDays: 30, openDays: 180 }),
  );
  expect(plan).toContain('Index Scan using webhook_deliveries_ended_idx');
  expect(plan).not.toMatch(/Seq Scan/);

  await store('old', 'failed', { daysAgo: 200 });
  const replaying = await db.pool.connect();
  await replaying.query('begin');
  await replaying.query(
    `update webhook_deliveries set status = 'received' where delivery_id = 'old'`,
  );
  const swept = sweepDeliveries(db, { doneDays: 30, openDays: 180 });
  await until(async () => {
    const { rowCount } = await db.pool.query(
      `select from pg_stat_activity where wait_event = 'transactionid'`,
    );
    return rowCount! > 0;
  });
  await replaying.query('commit');
  replaying.release();
  expect(await swept).toBe(0);
  expect(await kept()).toContain('old');
});

test('deliveries are looked up by their ids, also when PostgreSQL has collected statistics without open ones', async () => {
  const insert = (from: number, status: string) =>
    db.pool.query(
      `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status, received_at)
       select 'd' || n, 'polar', n, '/', '{}', '', $2::"DeliveryStatus", now() - interval '1 minute' from generate_series($1::int, $1 + 1999) n`,
      [from, status],
    );
  await insert(1, 'processed');
  await db.pool.query('analyze webhook_deliveries');
  await insert(2_001, 'received');
  const scans = await scansOf(db, 'webhook_deliveries', async (noting) => {
    await findOverdue(noting, { olderThanMs: 0, limit: 10 });
    await loadPending(noting, ['d2001', 'd2002']);
    await finishDeliveries(noting, [
      { id: 'd2001', outcome: { status: 'processed' } },
      { id: 'd2002', outcome: { status: 'failed' } },
    ]);
  });
  expect(scans).toEqual({
    // Reads the first entry of each tenant.
    'overdue-tenants': [
      'webhook_deliveries_due_idx ()',
      'webhook_deliveries_due_idx (COALESCE(tenant, 0))',
    ],
    'overdue-deliveries': ['webhook_deliveries_due_idx (COALESCE(tenant, 0), received_at)'],
    'load-pending-deliveries': ['webhook_deliveries_pkey (id)'],
    'finish-deliveries': ['webhook_deliveries_pkey (id)'],
  });
});

test('a delivery is finished once; a later result changes nothing', async () => {
  const id = await store('one', 'received');
  const [{ scope }, { scope: other }] = [
    await seedOrganization(db.pool),
    await seedOrganization(db.pool),
  ];
  expect((await loadPending(db, [id]))[0]).toMatchObject({
    id,
    attempts: 0,
    body: Buffer.from('{}'),
  });
  await finishDeliveries(db, [{ id, outcome: { status: 'received', reason: 'try again' } }]);
  await finishDeliveries(db, [
    { id, outcome: { status: 'processed', organizationId: scope.organizationId } },
  ]);
  await finishDeliveries(db, [
    { id, outcome: { status: 'failed', reason: 'late', organizationId: other.organizationId } },
  ]);
  expect(await rowOf(id)).toEqual({
    status: 'processed',
    reason: null,
    attempts: 2,
    tenant: scope.tenant,
  });
  expect((await loadPending(db, [id]))[0]).toBeNull();
});

test('a replay resets accepted deliveries and never rejected ones', async () => {
  const ids = [
    await store('f', 'failed'),
    await store('p', 'processed'),
    await store('r', 'rejected'),
  ];
  expect(await replayDeliveries(db, ids)).toBe(2);
  expect((await Promise.all(ids.map(rowOf))).map(({ status }) => status)).toEqual([
    'received',
    'received',
    'rejected',
  ]);
  expect(await replayDeliveries(db, [], 'rejected')).toBe(0);
  const failed = await store('f2', 'failed');
  expect(await replayDeliveries(db, [], 'failed')).toBeGreaterThan(0);
  expect((await rowOf(failed)).status).toBe('received');
  expect((await rowOf(ids[2]!)).status).toBe('rejected');
});

test('unattributed deliveries are retried if they named an owner', async () => {
  const named = await store('named', 'unattributed', { reason: 'not known here: org_1' });
  const unnamed = await store('unnamed', 'unattributed', {
    reason: 'the order names no organization and no user',
  });
  await retryUnattributed(db, 'polar');
  expect([(await rowOf(named)).status, (await rowOf(unnamed)).status]).toEqual([
    'received',
    'unattributed',
  ]);
});

test('overdue deliveries are found, oldest first', async () => {
  for (const [name, daysAgo] of [
    ['new', 0],
    ['old', 2],
    ['older', 3],
  ] as const)
    await store(name, 'received', { daysAgo });
  await store('done', 'processed', { daysAgo: 4 });
  const found = await findOverdue(db, { olderThanMs: 60_000, limit: 10 });
  const names = await Promise.all(
    found.map(async ({ id }) => (await loadPending(db, [id]))[0]!.receivedAt.getTime()),
  );
  expect(names).toHaveLength(2);
  expect(names[0]).toBeLessThan(names[1]!);
  expect(await findOverdue(db, { olderThanMs: 60_000, limit: 1 })).toEqual([found[0]]);
});

describe('findOverdue with several tenants', () => {
  const storeMany = (prefix: string, tenant: number | null, count: number) =>
    db.pool.query(
      `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, tenant, status, received_at)
       select $1 || n, 'polar', $1 || n, '/', '{}', '', $2, 'received', now() - interval '1 hour' + n * interval '1 ms'
       from generate_series(1, $3::int) n`,
      [prefix, tenant, count],
    );
  const sweep = async (limit: number) =>
    (await findOverdue(db, { olderThanMs: 0, limit })).map(({ id }) => id);

  test.each([
    [1, 2],
    [null, 2],
    [1, null],
  ])(
    'returns the deliveries of tenant %s despite the backlog of tenant %s, each once',
    async (few, many) => {
      await storeMany('many', many, 5_000);
      await storeMany('few', few, 3);
      const sweeps = await Promise.all([sweep(2_000), sweep(2_000)]);
      expect(sweeps[0]).toEqual(sweeps[1]);
      expect(new Set(sweeps[0]).size).toBe(2_000);
      expect(sweeps[0]).toEqual(expect.arrayContaining(['few1', 'few2', 'few3']));
      expect(sweeps[0]!.filter((id) => id.startsWith('many')).at(-1)).toBe('many1997');
      expect(new Set(await sweep(10_000)).size).toBe(5_003);
    },
  );
});
