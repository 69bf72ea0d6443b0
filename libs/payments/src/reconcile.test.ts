import type { Scope } from '@parley/contracts';
import {
  type FlowServer,
  createTestDatabase,
  seedOrganization,
  startFlowServer,
} from '@parley/testing';
import { heldPayments } from './held-payments';
import type { ReconcileReport } from './reconcile';
import {
  type TestPayments,
  newKeys,
  origin,
  startPayments,
  paymentInput,
} from './testing/start-payments';

jest.setTimeout(60_000);

let flow: FlowServer;
let t: TestPayments;
beforeEach(async () => {
  flow = await startFlowServer();
  t = startPayments(await createTestDatabase(), flow);
});
afterEach(async () => {
  expect(flow.problems).toEqual([]);
  await t.stop();
  await flow.stop();
});

const fast = { perSecond: 1_000 };
const hour = 3_600_000;

async function configured(keys = newKeys()): Promise<{ scope: Scope; keys: typeof keys }> {
  flow.addAccount(keys);
  const { scope } = await seedOrganization(t.db.pool);
  await t.configure(scope, keys);
  return { scope, keys };
}

async function make(scope: Scope, count = 1) {
  const made = [];
  for (let at = 0; at < count; at += 1) {
    const result = await t.payments.create(scope, { ...paymentInput, callKey: null });
    if (!result.ok) throw new Error(result.message);
    made.push({ paymentId: result.paymentId, order: flow.orderOf(result.paymentLinkUrl) });
  }
  return made;
}

const asked = () =>
  flow.requests.filter(({ operation }) => operation === 'getStatusByFlowOrder').length;
const statusOf = async (scope: Scope, id: string) => (await t.dataOf(scope, id)).status;

it('requests the status of pending payments older than an hour, and settles them like the webhook', async () => {
  const { scope } = await configured();
  const [paid, rejected, cancelled, waiting, wrong, fresh] = await make(scope, 6);
  paid!.order.status = fresh!.order.status = wrong!.order.status = 2;
  rejected!.order.status = 3;
  cancelled!.order.status = 4;
  wrong!.order.amount = 1;
  for (const { paymentId } of [paid!, rejected!, cancelled!, waiting!, wrong!])
    await t.age(hour, paymentId);

  const seen: number[] = [];
  const report = await t.payments.reconcile({
    ...fast,
    onProgress: ({ asked }) => seen.push(asked),
  });
  expect(report).toEqual({
    integrations: 1,
    skipped: 0,
    asked: 5,
    paid: 1,
    failed: 2,
    unchanged: 1,
    mismatched: 1,
    errors: 0,
    problems: [],
  } satisfies ReconcileReport);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(await t.dataOf(scope, paid!.paymentId)).toMatchObject({
    status: 'paid',
    paidAt: expect.any(Number),
  });
  expect(await t.dataOf(scope, rejected!.paymentId)).toMatchObject({
    status: 'failed',
    failureReason: 'rechazada',
  });
  expect(await t.dataOf(scope, cancelled!.paymentId)).toMatchObject({
    status: 'failed',
    failureReason: 'anulada',
  });
  for (const one of [waiting!, wrong!, fresh!])
    expect(await statusOf(scope, one.paymentId)).toBe('pending');
  expect((await t.eventsOf(paid!.paymentId)).slice(-2)).toEqual(['entity.updated', 'payment.paid']);
  expect(t.observed.filter(({ kind }) => kind === 'settled')).toHaveLength(3);
});

it('settles imported payments', async () => {
  const { scope } = await configured();
  const [{ order } = { order: undefined }] = await make(scope);
  flow.orders.push({ ...order!, flowOrder: 77, commerceOrder: 'old-77', token: 'OLD', status: 2 });
  const data = { amount: 12_000, currency: 'CLP', status: 'pending', providerReference: '77' };
  const created = await t.entities.create(scope, { ...origin, type: 'payment', data });
  if (!created.ok) throw new Error(created.reason);
  await t.age(hour);
  expect(await t.payments.reconcile(fast)).toMatchObject({ asked: 2, paid: 1 });
  expect(await statusOf(scope, created.entity.value.id)).toBe('paid');
});

it('each run continues where the last one ended, within its limit, and starts from the beginning after the end', async () => {
  const { scope } = await configured();
  await make(scope, 12);
  await t.age(hour);
  const counts: number[] = [];
  for (let run = 0; run < 4; run += 1) {
    const before = flow.requests.length;
    await t.payments.reconcile({ ...fast, maxPerIntegration: 5 });
    counts.push(flow.requests.length - before);
  }
  expect(counts).toEqual([5, 5, 2, 5]);
  const refs = flow.requests
    .filter(({ operation }) => operation === 'getStatusByFlowOrder')
    .map(({ params }) => params.flowOrder);
  expect(new Set(refs.slice(0, 12)).size).toBe(12);
  expect(refs.slice(12).sort()).toEqual(refs.slice(0, 5).sort());
});

it('stays within the rate limit of an account, even if two environments share it', async () => {
  const { scope, keys } = await configured();
  const production = { ...scope, environment: 'production' as const };
  await t.configure(production, keys);
  await make(scope, 5);
  await make(production, 5);
  await t.age(hour);
  const startedAt = performance.now();
  expect(await t.payments.reconcile({ perSecond: 20 })).toMatchObject({
    integrations: 2,
    asked: 10,
  });
  expect(performance.now() - startedAt).toBeGreaterThan(450);
});

it('an account that fails is not called until the next run, and does not stop others', async () => {
  const [broken, slow, sound] = [await configured(), await configured(), await configured()];
  for (const { scope } of [broken, slow, sound]) await make(scope, 12);
  for (const order of flow.orders) order.status = 2;
  await t.age(hour);
  const hasty = t.other({ flow: { statusTimeoutMs: 100 } });
  flow.setFault('getStatusByFlowOrder', { kind: 'overload' }, { apiKey: broken.keys.apiKey });
  flow.setFault('getStatusByFlowOrder', { kind: 'slow', ms: 60_000 }, { apiKey: slow.keys.apiKey });
  const report = await hasty.reconcile(fast);
  expect(report).toMatchObject({ integrations: 3, paid: 12, errors: 10 });
  expect(report.problems.sort()).toEqual(
    [broken, slow]
      .map(({ scope }) => `development of ${scope.organizationId}: Flow does not answer`)
      .sort(),
  );
  for (const { keys } of [broken, slow]) flow.setFault('getStatusByFlowOrder', null, keys);
  expect(await hasty.reconcile(fast)).toMatchObject({ paid: 24, errors: 0, problems: [] });
});

it('orders that Flow does not know do not stop the run', async () => {
  const { scope } = await configured();
  await make(scope, 7);
  await t.age(hour);
  // The oldest five, which come first, belong to another account, such as the sandbox that
  // was used before.
  for (const order of flow.orders.slice(0, 5)) order.apiKey = 'SANDBOX';
  for (const order of flow.orders) order.status = 2;
  expect(await t.payments.reconcile(fast)).toMatchObject({
    asked: 7,
    paid: 2,
    errors: 5,
    problems: [],
  });
});

it('an integration whose secrets cannot be decrypted is reported, and does not stop others', async () => {
  const [lost, sound] = [await configured(), await configured()];
  await make(sound.scope);
  await t.age(hour);
  await t.db.pool.query(`update integrations set secrets = 'x' where tenant = $1`, [
    lost.scope.tenant,
  ]);
  const report = await t.payments.reconcile(fast);
  expect(report).toMatchObject({ integrations: 1, asked: 1 });
  expect(report.problems).toEqual([
    `development of ${lost.scope.organizationId}: No key in SECRETS_KEY decrypts the secrets of the integration`,
  ]);
});

it('of ten concurrent runs one requests each status; the lease of a killed run expires', async () => {
  const { scope } = await configured();
  await make(scope, 8);
  await t.age(hour);
  flow.setFault('getStatusByFlowOrder', { kind: 'slow', ms: 200 });
  const reports = await Promise.all(Array.from({ length: 10 }, () => t.other().reconcile(fast)));
  expect(asked()).toBe(8);
  expect(reports.reduce((sum, { skipped }) => sum + skipped, 0)).toBe(9);

  flow.setFault('getStatusByFlowOrder', null);
  const leaseUntil = (until: string) =>
    t.db.pool.query(
      `update payment_reconciliations set lease_owner = 'killed', lease_until = now() + $1::interval`,
      [until],
    );
  await leaseUntil('1 minute');
  expect(await t.payments.reconcile(fast)).toMatchObject({ skipped: 1, asked: 0 });
  await leaseUntil('-1 minute');
  expect(await t.payments.reconcile(fast)).toMatchObject({ skipped: 0, asked: 8 });
});

it('can be limited to one environment, and stops when its signal is aborted', async () => {
  const [one, two] = [await configured(), await configured()];
  await make(one.scope, 12);
  await make(two.scope, 1);
  await t.age(hour);
  expect(await t.payments.reconcile({ ...fast, scope: two.scope })).toMatchObject({
    integrations: 1,
    asked: 1,
  });
  const stop = new AbortController();
  const onProgress = () => stop.abort();
  const report = await t.payments.reconcile({
    ...fast,
    scope: one.scope,
    signal: stop.signal,
    onProgress,
  });
  expect(report.asked).toBe(5);
});

it('restores a deleted entity type where the integration is configured', async () => {
  const { scope } = await configured();
  await t.db.pool.query(`delete from entity_types where slug = 'payment'`);
  await t.payments.reconcile(fast);
  expect((await t.entities.types(scope)).map(({ slug }) => slug)).toEqual(['payment']);
});

it('leaves payments alone that a restore holds, until they are released', async () => {
  const { scope } = await configured();
  const [paid, settled] = await make(scope, 2);
  for (const { paymentId } of [paid!, settled!]) await t.age(hour, paymentId);
  settled!.order.status = 2;
  await t.payments.reconcile(fast);
  expect(await statusOf(scope, settled!.paymentId)).toBe('paid');

  paid!.order.status = 2;
  expect(await heldPayments.hold(t.db)).toBe(1);
  const before = asked();
  expect(await t.payments.reconcile(fast)).toMatchObject({ asked: 0, problems: [] });
  expect(asked()).toBe(before);
  expect(await statusOf(scope, paid!.paymentId)).toBe('pending');
  expect(await heldPayments.list(t.db)).toMatchObject([
    { environment: scope.environment, count: 1 },
  ]);

  expect([heldPayments.drop, await heldPayments.release(t.db, 0)]).toEqual([null, 1]);
  expect(await t.payments.reconcile(fast)).toMatchObject({ asked: 1, paid: 1 });
});
