import { type Db, createDb } from '@parley/db';
import { type Queues, closeRedis, connectRedis, createQueues, waitForRedis } from '@parley/redis';
import { silentLogger } from '@parley/service';
import {
  countStatements,
  createTestRedis,
  openTestDatabase,
  seedOrganization,
} from '@parley/testing';
import { createInbox } from '@parley/webhooks';
import { observeJobs } from '../observe-jobs';
import { createApplyBilling } from './apply-billing';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

let deps: DeliveryJobDeps & { db: Db; queues: Queues };
let redis: ReturnType<typeof connectRedis>;
let organizationId: string;
beforeAll(async () => {
  const db = await openTestDatabase(createDb);
  redis = connectRedis({ url: (await createTestRedis()).url, role: 'producer' });
  await waitForRedis(redis, 5_000);
  deps = {
    db,
    queues: createQueues({ redis }),
    observe: observeJobs({ log: silentLogger() }).observe,
  };
  organizationId = (await seedOrganization(db.pool)).scope.organizationId;
});
beforeEach(async () => {
  for (const table of ['webhook_deliveries', 'credit_entries', 'processed_payments'])
    await deps.db.pool.query(`delete from ${table}`);
});
afterAll(async () => {
  await deps.queues.close();
  await closeRedis(redis);
  await deps.db.close();
});

let count = 0;
async function store(body: object): Promise<{ id: string }> {
  const { id } = await createInbox(deps.db).store({
    provider: 'polar',
    deliveryId: `delivery-${(count += 1)}`,
    path: '/webhook/polar',
    eventType: null,
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    tenant: null,
    environment: null,
    isSigned: true,
    status: 'received',
    reason: null,
  });
  return { id };
}
const contextOf = (isLastAttempt: boolean) => ({
  jobId: 'job',
  requestId: 'request',
  attempt: 1,
  isLastAttempt,
  signal: new AbortController().signal,
});
const order = (id: string, amount: number, type = 'order.paid') => ({
  type,
  data: { id, metadata: { organizationId }, subtotal_amount: amount, refunded_amount: amount },
});
const statuses = async (deliveries: { id: string }[]) => {
  const { rows } = await deps.db.pool.query<{ id: string; status: string; attempts: number }>(
    'select id, status, attempts from webhook_deliveries',
  );
  return deliveries.map(({ id }) => rows.find((row) => row.id === id)!.status);
};
const entries = async () => {
  const { rows } = await deps.db.pool.query<{ cause: string; amount_cents: number }>(
    'select cause, amount_cents from credit_entries order by cause',
  );
  return rows.map(
    ({ cause, amount_cents: cents }) => `${cause.replace('polar-order-', '')}: ${cents}`,
  );
};
const waitingJobs = async (queue: string) => {
  const keys = await redis.keys(`{parley-${queue}}:${queue}:dlv_*`);
  return keys.map((key) => key.split(':')[2]).sort();
};

test('a delivery that fails gets its own job, and the others of its job are finished with one statement', async () => {
  const deliveries = await Promise.all([1, 2, 3, 4].map((n) => store({ n })));
  const handle = createDeliveryJob(deps, 'update-email', 10, async ({ body }) => {
    if (body.toString() === '{"n":2}') throw new Error('two');
    return { status: 'processed' };
  });
  // The statement that loads, and the one that finishes.
  expect(await countStatements(deps.db.pool, () => handle({ deliveries }, contextOf(true)))).toBe(
    2,
  );
  expect(await statuses(deliveries)).toEqual(['processed', 'received', 'processed', 'processed']);
  expect(await waitingJobs('update-email')).toEqual([deliveries[1]!.id]);
  const own = handle({ deliveries: [deliveries[1]!] }, contextOf(true));
  await expect(own).rejects.toThrow('two');
  expect(await statuses(deliveries)).toEqual(['processed', 'failed', 'processed', 'processed']);
});

test('a job of several that is interrupted at shutdown is run again at once, although one of its deliveries has failed', async () => {
  const deliveries = await Promise.all([1, 2].map((n) => store({ n })));
  const shutdown = new AbortController();
  const handle = createDeliveryJob(deps, 'update-email', 10, async ({ body }, { signal }) => {
    if (body.toString() === '{"n":1}') throw new Error('one');
    shutdown.abort(new Error('shutting down'));
    throw signal.reason;
  });
  await expect(
    handle({ deliveries }, { ...contextOf(true), signal: shutdown.signal }),
  ).rejects.toThrow('shutting down');
});

test('at most the given number of deliveries is handled at the same time', async () => {
  const deliveries = await Promise.all(Array.from({ length: 12 }, (_, n) => store({ n })));
  let [running, most] = [0, 0];
  const handle = createDeliveryJob(deps, 'update-email', 3, async () => {
    most = Math.max(most, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
    return { status: 'processed' };
  });
  await handle({ deliveries }, contextOf(true));
  expect(most).toBe(3);
  expect(new Set(await statuses(deliveries))).toEqual(new Set(['processed']));
});

test('orders that arrive together are applied by one transaction', async () => {
  const deliveries = await Promise.all([1, 2, 3, 4, 5].map((n) => store(order(`one-${n}`, n))));
  const handle = createApplyBilling(deps);
  // Load, begin, lock, read, owners, apply, finish, commit.
  expect(await countStatements(deps.db.pool, () => handle({ deliveries }, contextOf(true)))).toBe(
    8,
  );
  expect(await entries()).toEqual([1, 2, 3, 4, 5].map((n) => `one-${n}-paid: ${n}`));
});

test('several events of an order that arrive together are applied in their order', async () => {
  const events = [
    order('a', 100),
    order('b', 70),
    order('a', 30, 'order.refunded'),
    order('a', 100),
    order('a', 80, 'order.refunded'),
  ];
  const deliveries = [];
  for (const event of events) deliveries.push(await store(event));
  await createApplyBilling(deps)({ deliveries }, contextOf(true));
  expect(await statuses(deliveries)).toEqual([
    'processed',
    'processed',
    'processed',
    'ignored',
    'processed',
  ]);
  expect(await entries()).toEqual([
    'a-paid: 100',
    'a-refunded-30: -30',
    'a-refunded-80: -50',
    'b-paid: 70',
  ]);
});

test('an order that PostgreSQL refuses does not stop or repeat the others of its transaction', async () => {
  const tooMuch = 2 ** 31;
  const deliveries = await Promise.all(
    [order('p', 1), order('q', tooMuch), order('r', 3)].map(store),
  );
  const handle = createApplyBilling(deps);
  await handle({ deliveries }, contextOf(true));
  expect(await statuses(deliveries)).toEqual(['processed', 'received', 'processed']);
  expect(await entries()).toEqual(['p-paid: 1', 'r-paid: 3']);
  // A second worker has the same job, as after the loss of the first one.
  await handle({ deliveries }, contextOf(true));
  expect(await entries()).toEqual(['p-paid: 1', 'r-paid: 3']);
});

test('the same job in two workers at once applies each order once', async () => {
  const deliveries = await Promise.all(
    Array.from({ length: 20 }, (_, n) => store(order(`twice-${n}`, 5))),
  );
  await Promise.all([
    createApplyBilling(deps)({ deliveries }, contextOf(true)),
    createApplyBilling(deps)({ deliveries: deliveries.toReversed() }, contextOf(true)),
  ]);
  expect((await entries()).length).toBe(20);
});
