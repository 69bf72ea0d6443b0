import type { Scope } from '@parley/contracts';
import {
  type FlowServer,
  createTestDatabase,
  seedOrganization,
  startFlowServer,
} from '@parley/testing';
import type { PaymentStep } from './deps';
import { buildChild, removeChild, startChild } from './testing/start-child';
import {
  type TestPayments,
  newKeys,
  origin,
  startPayments,
  paymentInput,
} from './testing/start-payments';

jest.setTimeout(60_000);

/** Processes that are killed between two steps of creating a payment. */
let flow: FlowServer;
let t: TestPayments;
let scope: Scope;
let databaseUrl: string;

beforeAll(async () => {
  buildChild();
  const keys = newKeys();
  flow = await startFlowServer(keys);
  const database = await createTestDatabase();
  databaseUrl = database.url;
  t = startPayments(database, flow);
  scope = (await seedOrganization(t.db.pool)).scope;
  await t.configure(scope, keys);
}, 60_000);
afterAll(async () => {
  await t.stop();
  await flow.stop();
  removeChild();
});

/** Creates a payment in a process that is killed at the step; returns what is stored. */
async function crash(killAt: PaymentStep) {
  const callKey = `crash-${Math.random()}`;
  const before = flow.orders.length;
  const child = startChild({
    databaseUrl,
    secretsKey: t.secretsKey,
    create: { scope, callKey, killAt },
  });
  expect(await child.ended).toBe('SIGKILL');
  const { rows } = await t.db.pool.query<{ payment_id: string }>(
    'select payment_id from payment_orders where call_key = $1',
    [callKey],
  );
  expect(rows).toHaveLength(1);
  const paymentId = rows[0]!.payment_id;
  await t.age(20 * 60_000, paymentId);
  return { callKey, paymentId, orders: () => flow.orders.slice(before) };
}

const countPayments = async () =>
  (
    await t.db.pool.query<{ count: number }>(
      `select count(*)::int from events where type = 'payment.created'`,
    )
  ).rows[0]!.count;

describe.each<[PaymentStep, statusLeft: string, ordersLeft: number, ordersInAll: number]>([
  ['drafted', 'draft', 0, 1],
  ['claimed', 'draft', 0, 1],
  // The token is lost with Flow's answer, so nothing can pay the order: another one replaces it.
  ['ordered', 'draft', 1, 2],
  ['recorded', 'pending', 1, 1],
])('killed when it has %s', (step, statusLeft, ordersLeft, ordersInAll) => {
  it('repeated calls return one payment, with a link that is paid once', async () => {
    const made = await countPayments();
    const { callKey, paymentId, orders } = await crash(step);
    expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: statusLeft });
    expect(orders()).toHaveLength(ordersLeft);

    const results = await Promise.all(
      Array.from({ length: 5 }, () => t.other().create(scope, { ...paymentInput, callKey })),
    );
    expect(results[0]).toMatchObject({ ok: true, paymentId });
    for (const result of results) expect(result).toEqual(results[0]);
    expect(await countPayments()).toBe(made + 1);
    expect(orders()).toHaveLength(ordersInAll);

    const { paymentLinkUrl } = results[0] as { paymentLinkUrl: string };
    const order = flow.orderOf(paymentLinkUrl);
    expect(order).toBe(orders().at(-1));
    order.status = 2;
    expect(await t.payments.confirmByToken(order.token)).toMatchObject({
      ok: true,
      paymentId,
      changed: true,
    });
    expect((await t.eventsOf(paymentId)).filter((type) => type === 'payment.paid')).toHaveLength(1);
  });

  it('without another call, reconciliation ends the draft', async () => {
    const { paymentId } = await crash(step);
    await t.payments.reconcile({ perSecond: 1_000 });
    const expected =
      step === 'recorded'
        ? { status: 'pending', paymentLinkUrl: expect.any(String) }
        : { status: 'failed', failureReason: 'The payment link was never completed' };
    expect(await t.dataOf(scope, paymentId)).toMatchObject(expected);
    const report = await t.payments.reconcile({ perSecond: 1_000 });
    expect(report).toMatchObject({ failed: 0, errors: 0 });
  });
});

it('an order that was not stored is settled by the callback of Flow, once', async () => {
  const { paymentId, orders } = await crash('ordered');
  const [order] = orders();
  order!.status = 2;
  expect(await t.payments.confirmByToken(order!.token)).toMatchObject({
    ok: true,
    paymentId,
    status: 'paid',
  });
  expect(await t.payments.confirmByToken(order!.token)).toMatchObject({
    ok: true,
    paymentId,
    changed: false,
  });
  expect(await t.eventsOf(paymentId)).toEqual([
    'entity.created',
    'payment.created',
    'entity.updated',
    'payment.link_created',
    'entity.updated',
    'payment.paid',
  ]);
});

it('a paid order that was not stored is found by its commerce order, by reconciliation and by the same call', async () => {
  for (const find of ['reconcile', 'create'] as const) {
    const { callKey, paymentId, orders } = await crash('ordered');
    orders()[0]!.status = 2;
    if (find === 'reconcile') await t.payments.reconcile({ perSecond: 1_000 });
    else
      expect(await t.payments.create(scope, { ...paymentInput, callKey })).toMatchObject({
        ok: false,
        paymentId,
      });
    expect(await t.dataOf(scope, paymentId)).toMatchObject({
      status: 'paid',
      providerReference: String(orders()[0]!.flowOrder),
    });
    expect(orders()).toHaveLength(1);
  }
});

it('a draft is unchanged while Flow is unavailable', async () => {
  const { callKey, paymentId } = await crash('ordered');
  flow.setFault('getStatusByCommerceId', { kind: 'overload' });
  const tried = await t.payments.create(scope, { ...paymentInput, ...origin, callKey });
  expect(tried).toEqual({ ok: false, reason: 'no_link', message: 'Flow answered 503', paymentId });
  expect(await t.payments.reconcile({ perSecond: 1_000 })).toMatchObject({ errors: 1 });
  expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'draft' });
  flow.setFault('getStatusByCommerceId', null);
  expect(await t.payments.create(scope, { ...paymentInput, callKey })).toMatchObject({
    ok: true,
    paymentId,
  });
});
