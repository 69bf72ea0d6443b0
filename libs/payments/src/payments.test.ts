import { randomBytes } from 'node:crypto';
import type { Scope } from '@parley/contracts';
import {
  type FlowServer,
  type SeededOrganization,
  createTestDatabase,
  seedOrganization,
  startFlowServer,
  until,
} from '@parley/testing';
import { findKnownTokens } from './confirm-by-token';
import {
  type TestPayments,
  inEnvironment,
  newKeys,
  origin,
  startPayments,
  paymentInput,
} from './testing/start-payments';

jest.setTimeout(60_000);

let flow: FlowServer;
let t: TestPayments;
let org: SeededOrganization;
let scope: Scope;
let n = 0;
const nextCall = () => `run_1-call_${(n += 1)}`;
/** Creates a payment with its link. */
const make = async (more: object = {}, where = scope) => {
  const result = await t.payments.create(where, { ...paymentInput, callKey: nextCall(), ...more });
  if (!result.ok) throw new Error(result.message);
  return { ...result, order: flow.orderOf(result.paymentLinkUrl) };
};
const unconfigure = ({ tenant }: Scope) =>
  t.db.pool.query('delete from integrations where tenant = $1', [tenant]);

beforeAll(async () => {
  const keys = newKeys();
  flow = await startFlowServer(keys);
  t = startPayments(await createTestDatabase(), flow);
  org = await seedOrganization(t.db.pool, {
    entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
  });
  scope = org.scope;
  await t.configure(scope, keys);
});
afterAll(async () => {
  await t.stop();
  await flow.stop();
});
afterEach(() => {
  expect(flow.problems.splice(0)).toEqual([]);
  for (const operation of [
    'create',
    'getStatus',
    'getStatusByFlowOrder',
    'getStatusByCommerceId',
  ] as const)
    flow.setFault(operation, null);
});

describe('create', () => {
  it('creates a payment with a link and all fields of the API reference', async () => {
    const { paymentId, paymentLinkUrl, flowOrderId, order } = await make();
    expect(flowOrderId).toBe(String(order.flowOrder));
    expect(order).toMatchObject({
      commerceOrder: paymentId,
      subject: 'Pedido 1',
      amount: 12_000,
      currency: 'CLP',
      email: 'buyer@example.com',
      urlConfirmation: 'https://svc.example.com/webhook/flow',
      urlReturn: 'https://svc.example.com/',
    });
    expect(await t.dataOf(scope, paymentId)).toEqual({
      amount: 12_000,
      currency: 'CLP',
      description: 'Pedido 1',
      status: 'pending',
      providerReference: flowOrderId,
      paymentLinkUrl,
      flowToken: order.token,
      customerEmail: 'buyer@example.com',
    });
    expect(await t.eventsOf(paymentId)).toEqual([
      'entity.created',
      'payment.created',
      'entity.updated',
      'payment.link_created',
    ]);
  });

  it('creates the entity type with its fields', async () => {
    const types = await t.entities.types(scope);
    expect(types.find(({ slug }) => slug === 'payment')).toMatchObject({
      name: 'Payment',
      schema: { amount: 'number', status: 'string', flowToken: 'string', paidAt: 'number' },
      searchFields: ['description', 'customerEmail', 'providerReference'],
    });
  });

  it('relates it to an entity, and creates nothing for a missing entity', async () => {
    const created = await t.entities.create(scope, { ...origin, type: 'order', data: {} });
    if (!created.ok) throw new Error(created.reason);
    const { id } = created.entity.value;
    const { paymentId, order } = await make({ entityId: id });
    expect(await t.entities.relatedIds(scope, { entityId: id, relation: 'payment_for' })).toEqual([
      paymentId,
    ]);
    expect(order.optional).toBe(JSON.stringify({ entityId: id }));

    const before = flow.requests.length;
    const { rows } = await t.db.pool.query('select count(*) from entities');
    expect(
      await t.payments.create(scope, { ...paymentInput, entityId: 'ent_no', callKey: nextCall() }),
    ).toMatchObject({
      ok: false,
      reason: 'entity_not_found',
    });
    expect((await t.db.pool.query('select count(*) from entities')).rows).toEqual(rows);
    expect(flow.requests).toHaveLength(before);
  });

  it('uses the currency and return address of the integration', async () => {
    const keys = newKeys();
    flow.addAccount(keys);
    const production = inEnvironment(org, 'production');
    await t.configure(production, keys, {
      defaultCurrency: 'usd',
      returnUrl: 'https://shop.example.com/thanks',
    });
    const { paymentId, order } = await make({ amount: 10.005 }, production);
    expect(order).toMatchObject({
      currency: 'USD',
      amount: 10.01,
      urlReturn: 'https://shop.example.com/thanks',
    });
    expect(await t.dataOf(production, paymentId)).toMatchObject({ currency: 'USD', amount: 10.01 });
    const pesos = await make({ amount: 999.6, currency: 'clp' }, production);
    expect(pesos.order).toMatchObject({ currency: 'CLP', amount: 1000 });
  });

  it.each([
    [{ amount: 0 }, 'amount'],
    [{ amount: -5 }, 'amount'],
    [{ amount: 0.4 }, 'amount 0.4 is too small: in CLP it rounds to 0'],
    [{ amount: Number.NaN }, 'amount'],
    [{ amount: 1e15 }, 'amount is too large: at most 1000000000000'],
    [{ amount: 1e300 }, 'amount is too large: at most 1000000000000'],
    [{ currency: 'XXXX' }, 'currency must be a code of three letters such as CLP, not XXXX'],
    [{ currency: 'UF' }, 'currency must be a code of three letters such as CLP, not UF'],
    [{ currency: 'pesos!' }, 'currency'],
    [{ customerEmail: 'buyer' }, 'customerEmail'],
  ])('refuses %j before anything is created', async (wrong, named) => {
    const result = await t.payments.create(scope, {
      ...paymentInput,
      ...wrong,
      callKey: nextCall(),
    });
    expect(result).toMatchObject({
      ok: false,
      reason: 'invalid',
      message: expect.stringContaining(named),
    });
  });

  it('reports an invalid currency of the integration; an empty one means CLP', async () => {
    const other = await seedOrganization(t.db.pool);
    const keys = newKeys();
    flow.addAccount(keys);
    await t.configure(other.scope, keys, { defaultCurrency: 'pesos' });
    expect(await t.payments.create(other.scope, { ...paymentInput, callKey: null })).toEqual({
      ok: false,
      reason: 'not_configured',
      message:
        'The integration is not complete: defaultCurrency: must be a code of three letters such as CLP, not pesos',
    });
    await t.configure(other.scope, keys, { defaultCurrency: '' });
    expect((await make({}, other.scope)).order).toMatchObject({ currency: 'CLP' });
    await unconfigure(other.scope);
  });

  it('reports that an environment has no active integration', async () => {
    const other = await seedOrganization(t.db.pool);
    const expected = {
      ok: false,
      reason: 'not_configured',
      message: 'Payments are not configured in development',
    };
    expect(await t.payments.create(other.scope, { ...paymentInput, callKey: null })).toEqual(
      expected,
    );
    const keys = newKeys();
    await t.configure(other.scope, keys);
    await t.db.pool.query('update integrations set active = false where tenant = $1', [
      other.scope.tenant,
    ]);
    expect(await t.payments.create(other.scope, { ...paymentInput, callKey: null })).toEqual(
      expected,
    );
  });

  it('stores a failed payment with the reason when Flow refuses, and the same call gets the same answer', async () => {
    const callKey = nextCall();
    const result = await t.payments.create(scope, { ...paymentInput, amount: 100, callKey });
    const reason = 'Flow refuses: The minimum amount is 350 CLP (1901)';
    expect(result).toEqual({
      ok: false,
      reason: 'no_link',
      message: reason,
      paymentId: expect.any(String),
    });
    const paymentId = (result as { paymentId: string }).paymentId;
    expect(await t.dataOf(scope, paymentId)).toMatchObject({
      status: 'failed',
      failureReason: reason,
    });
    expect(await t.eventsOf(paymentId)).toEqual([
      'entity.created',
      'payment.created',
      'entity.updated',
      'payment.failed',
    ]);
    expect(await t.payments.create(scope, { ...paymentInput, amount: 100, callKey })).toEqual(
      result,
    );
  });

  it.each([
    ['slow', { kind: 'slow', ms: 30_000 }, 'Flow did not answer within 0.2 s'],
    ['down', { kind: 'overload' }, 'Flow answered 503'],
    [
      'disconnecting after it created the order',
      { kind: 'cut', after: true },
      'The connection to Flow broke',
    ],
  ] as const)(
    'while Flow is %s, the payment fails with the reason, and the same call creates another one',
    async (_n, fault, why) => {
      const callKey = nextCall();
      const hasty = t.other({ flow: { createTimeoutMs: 200 } });
      flow.setFault('create', fault, { times: 1 });
      const first = await hasty.create(scope, { ...paymentInput, callKey });
      expect(first).toMatchObject({
        ok: false,
        reason: 'no_link',
        message: expect.stringContaining(why),
      });
      const { paymentId } = first as { paymentId: string };
      expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'failed' });
      const second = await t.payments.create(scope, { ...paymentInput, callKey });
      expect(second).toMatchObject({ ok: true });
      expect((second as { paymentId: string }).paymentId).not.toBe(paymentId);
    },
  );

  it('repeated and concurrent calls with one key return one payment with one link', async () => {
    const callKey = nextCall();
    const before = flow.orders.length;
    flow.setFault('create', { kind: 'slow', ms: 300 }, { times: 1 });
    const calls = Array.from({ length: 10 }, () =>
      t.other().create(scope, { ...paymentInput, callKey }),
    );
    const results = [
      ...(await Promise.all(calls)),
      await t.payments.create(scope, { ...paymentInput, callKey }),
    ];
    expect(results[0]).toMatchObject({ ok: true });
    for (const result of results) expect(result).toEqual(results[0]);
    expect(flow.orders).toHaveLength(before + 1);
  });

  it('each call without a key creates a payment', async () => {
    const [one, two] = [await make({ callKey: null }), await make({ callKey: null })];
    expect(one.paymentId).not.toBe(two.paymentId);
  });
});

describe('settling', () => {
  const confirm = (order: { token: string }) => t.payments.confirmByToken(order.token);

  it.each([
    [2, 'paid', { paidAt: expect.any(Number) }, 'payment.paid'],
    [3, 'failed', { failureReason: 'rechazada' }, 'payment.failed'],
    [4, 'failed', { failureReason: 'anulada' }, 'payment.failed'],
  ] as const)('provider status %i: %s, once', async (code, status, data, event) => {
    const { paymentId, order } = await make();
    expect(await confirm(order)).toEqual({
      ok: true,
      scope,
      paymentId,
      status: 'pending',
      changed: false,
    });
    order.status = code;
    expect(await confirm(order)).toEqual({ ok: true, scope, paymentId, status, changed: true });
    const settled = await t.dataOf(scope, paymentId);
    expect(settled).toMatchObject({ status, ...data });
    for (const later of [code, 1, 3] as const) {
      order.status = later;
      expect(await confirm(order)).toMatchObject({ ok: true, status, changed: false });
    }
    expect(await t.dataOf(scope, paymentId)).toEqual(settled);
    expect((await t.eventsOf(paymentId)).slice(4)).toEqual(['entity.updated', event]);
  });

  it('records the change of the entity with its previous data, for triggers', async () => {
    const { paymentId, order } = await make();
    order.status = 2;
    await confirm(order);
    const { rows } = await t.db.pool.query(
      `select type, payload, actor from events where entity_id = $1 order by id desc limit 2`,
      [paymentId],
    );
    expect(rows).toMatchObject([
      {
        type: 'payment.paid',
        payload: { paymentId, amount: 12_000, currency: 'CLP', status: 'paid' },
      },
      {
        type: 'entity.updated',
        payload: { data: { status: 'paid' }, previousData: { status: 'pending' } },
        actor: { type: 'webhook', provider: 'flow' },
      },
    ]);
  });

  it.each([
    ['amount', { amount: 100 }, 'amount 100 is not 12000'],
    ['currency', { currency: 'USD' }, 'currency USD is not CLP'],
    ['order', { commerceOrder: 'ent_other' }, 'is not'],
  ])(
    'a status with a wrong %s is recorded once, and the payment stays pending',
    async (_name, lie, problem) => {
      const { paymentId, order } = await make();
      Object.assign(order, lie, { status: 2 });
      const expected = { ok: false, reason: 'mismatch', message: expect.stringContaining(problem) };
      expect(await confirm(order)).toMatchObject(expected);
      expect(await confirm(order)).toMatchObject(expected);
      expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'pending' });
      expect((await t.eventsOf(paymentId)).slice(4)).toEqual(['payment.mismatch']);
      expect(t.observed.at(-1)).toEqual({ kind: 'mismatch', source: 'webhook' });
    },
  );

  it('the status of another order neither pays nor fails a payment', async () => {
    const [mine, theirs] = [await make(), await make()];
    for (const status of [2, 3] as const) {
      theirs.order.status = status;
      await t.db.pool.query('update payment_orders set flow_token = null where payment_id = $1', [
        theirs.paymentId,
      ]);
      await t.db.pool.query('update payment_orders set flow_token = $2 where payment_id = $1', [
        mine.paymentId,
        theirs.order.token,
      ]);
      expect(await confirm(theirs.order)).toMatchObject({ ok: false, reason: 'mismatch' });
      expect(await t.dataOf(scope, mine.paymentId)).toMatchObject({ status: 'pending' });
    }
  });

  it('a paid order of a failed payment is recorded as a mismatch', async () => {
    const { paymentId, order } = await make();
    order.status = 3;
    await confirm(order);
    order.status = 2;
    expect(await confirm(order)).toMatchObject({ ok: false, reason: 'mismatch' });
    expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'failed' });
    expect(await t.eventsOf(paymentId)).toContain('payment.mismatch');
  });

  it('a paid payment is not paid again after a user has set it back to pending', async () => {
    const { paymentId, order } = await make();
    order.status = 2;
    await confirm(order);
    const { paidAt } = await t.dataOf(scope, paymentId);
    await t.entities.update(scope, {
      ...origin,
      type: 'payment',
      id: paymentId,
      data: { status: 'pending' },
    });
    expect(await confirm(order)).toMatchObject({
      ok: false,
      message: 'Flow reports the order as paid, but the payment was paid before and is pending now',
    });
    expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'pending', paidAt });
    expect((await t.eventsOf(paymentId)).filter((type) => type === 'payment.paid')).toHaveLength(1);
  });

  it('an order of one payment does not pay another payment that has its number', async () => {
    const { order } = await make();
    order.status = 2;
    const data = {
      amount: 12_000,
      currency: 'CLP',
      status: 'pending',
      providerReference: String(order.flowOrder),
    };
    const created = await t.entities.create(scope, { ...origin, type: 'payment', data });
    if (!created.ok) throw new Error(created.reason);
    const paymentId = created.entity.value.id;
    expect(await t.payments.getStatus(scope, { ...origin, paymentId })).toMatchObject({
      reason: 'mismatch',
    });
    expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'pending' });
  });

  it('an order does not pay a payment of another organization that shares the account', async () => {
    const keys = newKeys();
    flow.addAccount(keys);
    const [ours, theirs] = [
      (await seedOrganization(t.db.pool)).scope,
      (await seedOrganization(t.db.pool)).scope,
    ];
    for (const where of [ours, theirs]) await t.configure(where, keys);
    const { paymentId, order } = await make({}, ours);
    const data = {
      amount: 12_000,
      currency: 'CLP',
      status: 'pending',
      providerReference: String(order.flowOrder),
    };
    const claiming = await t.entities.create(theirs, { ...origin, type: 'payment', data });
    if (!claiming.ok) throw new Error(claiming.reason);
    const { id } = claiming.entity.value;
    order.status = 2;
    await t.age(3_600_000, id);
    expect(await t.payments.getStatus(theirs, { ...origin, paymentId: id })).toMatchObject({
      reason: 'mismatch',
    });
    expect(await t.payments.reconcile({ scope: theirs })).toMatchObject({
      asked: 1,
      paid: 0,
      mismatched: 1,
    });
    expect(await t.dataOf(theirs, id)).toMatchObject({ status: 'pending' });
    expect(await confirm(order)).toMatchObject({
      ok: true,
      scope: ours,
      paymentId,
      status: 'paid',
    });
    for (const where of [ours, theirs]) await unconfigure(where);
  });

  it('while Flow is unavailable, the payment stays pending and the callback can be retried', async () => {
    const { paymentId, order } = await make();
    order.status = 2;
    flow.setFault('getStatus', { kind: 'overload' });
    expect(await confirm(order)).toMatchObject({
      ok: false,
      reason: 'try_again',
      message: 'Flow answered 503',
    });
    flow.setFault('getStatus', null);
    expect(await confirm(order)).toMatchObject({ ok: true, status: 'paid', changed: true });
    expect(await t.dataOf(scope, paymentId)).toMatchObject({ status: 'paid' });
  });

  it('a callback does not wait for other callbacks of its organization that Flow has not answered', async () => {
    const orders = [];
    for (let count = 0; count < 5; count += 1) orders.push((await make()).order);
    const asked = () => flow.requests.filter(({ operation }) => operation === 'getStatus').length;
    const before = asked();
    flow.setFault('getStatus', { kind: 'slow', ms: 4_000 }, { times: 4 });
    const waiting = orders.slice(0, 4).map(confirm);
    await until(async () => asked() === before + 4);
    const message = expect.stringMatching(/^Flow was not called/);
    expect(await confirm(orders[4]!)).toMatchObject({ ok: false, reason: 'try_again', message });
    for (const result of await Promise.all(waiting))
      expect(result).toMatchObject({ ok: true, changed: false });
  });

  it('a deleted payment is not settled', async () => {
    const { paymentId, order } = await make();
    order.status = 2;
    await t.entities.remove(scope, { ...origin, type: 'payment', id: paymentId });
    expect(await confirm(order)).toMatchObject({ ok: false, reason: 'no_payment' });
  });
});

describe('a token that no payment has', () => {
  /** The state after a crash between the creation of the order and its storage. */
  const forget = async (paymentId: string) => {
    await t.db.pool.query('update payment_orders set flow_token = null where payment_id = $1', [
      paymentId,
    ]);
    await t.db.pool.query(`update entities set data = data - 'flowToken' where id = $1`, [
      paymentId,
    ]);
  };

  it('is searched in every account, and settles its payment', async () => {
    const { paymentId, order } = await make();
    await forget(paymentId);
    order.status = 2;
    expect(await t.payments.confirmByToken(order.token)).toMatchObject({
      ok: true,
      paymentId,
      status: 'paid',
    });
  });

  it('is requested with each secret that accounts have for one key', async () => {
    const keys = newKeys();
    flow.addAccount(keys);
    const orgs = [await seedOrganization(t.db.pool), await seedOrganization(t.db.pool)];
    for (const [at, where] of orgs.map(({ scope }) => scope).entries()) {
      const other = orgs[1 - at]!.scope;
      await t.configure(where, keys);
      const { paymentId, order } = await make({}, where);
      await t.configure(other, { ...keys, secretKey: 'stale' });
      await forget(paymentId);
      order.status = 2;
      expect(await t.payments.confirmByToken(order.token)).toMatchObject({
        ok: true,
        paymentId,
        status: 'paid',
      });
    }
    expect(new Set(flow.problems.splice(0))).toEqual(new Set(['getStatus has a wrong signature']));
    for (const { scope } of orgs) await unconfigure(scope);
  });

  it('is searched in the fields of payments first, where another tenant may have written it too', async () => {
    const { order } = await make();
    const imported = {
      ...order,
      token: 'TOKEN-OF-FIELDS',
      flowOrder: 98,
      commerceOrder: 'old-98',
      status: 2 as const,
    };
    flow.orders.push(imported);
    const data = { amount: 12_000, currency: 'CLP', status: 'pending', providerReference: '98' };
    const keys = newKeys();
    flow.addAccount(keys);
    const { scope: otherScope } = await seedOrganization(t.db.pool);
    await t.configure(otherScope, keys);
    const write = async (where: Scope) => {
      const fields = { ...data, flowToken: imported.token };
      const created = await t.entities.create(where, { ...origin, type: 'payment', data: fields });
      if (!created.ok) throw new Error(created.reason);
      return created.entity.value.id;
    };
    const copy = await write(otherScope);
    const paymentId = await write(scope);
    // Only active accounts are searched, so this one can be found by the field only.
    const setActive = (active: boolean) =>
      t.db.pool.query('update integrations set active = $2 where tenant = $1', [
        scope.tenant,
        active,
      ]);
    await setActive(false);
    expect(await t.payments.confirmByToken(imported.token)).toMatchObject({
      ok: true,
      paymentId,
      status: 'paid',
    });
    await setActive(true);
    expect(await t.dataOf(otherScope, copy)).toMatchObject({ status: 'pending' });
    await unconfigure(otherScope);
  });

  it('settles imported payments', async () => {
    const { order } = await make();
    const imported = {
      ...order,
      token: 'IMPORTED-TOKEN',
      flowOrder: 99,
      commerceOrder: 'old-1',
      status: 2 as const,
    };
    flow.orders.push(imported);
    const data = { amount: 12_000, currency: 'CLP', status: 'pending', providerReference: '99' };
    const created = await t.entities.create(scope, { ...origin, type: 'payment', data });
    if (!created.ok) throw new Error(created.reason);
    const paymentId = created.entity.value.id;
    expect(await t.payments.confirmByToken('IMPORTED-TOKEN')).toMatchObject({
      ok: true,
      paymentId,
      status: 'paid',
    });
  });

  it('costs each account one call, and is then refused without calls for a while', async () => {
    const count = () => flow.requests.filter(({ operation }) => operation === 'getStatus').length;
    const before = count();
    const fresh = t.other();
    const expected = { ok: false, reason: 'unknown_token' };
    expect(await fresh.confirmByToken('FORGED-TOKEN')).toMatchObject(expected);
    const perSearch = count() - before;
    expect(perSearch).toBe(2);
    expect(await fresh.confirmByToken('FORGED-TOKEN')).toMatchObject({
      ok: false,
      reason: 'refused',
    });
    expect(count()).toBe(before + perSearch);
    for (let at = 0; at < 40; at += 1) await fresh.confirmByToken(`FORGED-${at}`);
    expect(count()).toBeLessThanOrEqual(before + 30 * perSearch);
    expect(await fresh.confirmByToken('FORGED-X')).toMatchObject({ ok: false, reason: 'refused' });
  });

  it('is found by an index only, among the orders and in the fields of entities of any size', async () => {
    const { order } = await make();
    const data = { amount: 1, currency: 'CLP', status: 'pending', flowToken: 'TOKEN-OF-A-FIELD' };
    await t.entities.create(scope, { ...origin, type: 'payment', data });
    // Random, so that PostgreSQL cannot compress it.
    const description = randomBytes(400_000).toString('hex');
    for (let at = 0; at < 10; at += 1)
      await t.entities.create(scope, {
        ...origin,
        type: 'payment',
        data: { ...data, flowToken: `T${at}`, description },
      });
    await t.db.pool.query('analyze entities');
    const known = await findKnownTokens(t.db, [order.token, 'TOKEN-OF-A-FIELD', 'STRANGE']);
    expect([...known].sort()).toEqual([order.token, 'TOKEN-OF-A-FIELD'].sort());
    const { rows } = await t.db.pool.query(
      `explain (analyze, buffers, format json) select * from entities_by_flow_token('STRANGE')`,
    );
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    // The ten large entities have a thousand blocks.
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(300);
  });

  it('can be retried when an account was unavailable', async () => {
    flow.setFault('getStatus', { kind: 'overload' });
    expect(await t.other().confirmByToken('UNCERTAIN-TOKEN')).toMatchObject({
      ok: false,
      reason: 'try_again',
    });
  });

  it('is refused if it does not have the form of a token', async () => {
    for (const token of ['', 'a b c d', 'x', 'ñandú', 'a'.repeat(300)]) {
      expect(await t.payments.confirmByToken(token)).toMatchObject({
        ok: false,
        reason: 'invalid_token',
      });
    }
  });

  it('of an order without a payment is reported as such', async () => {
    const { order } = await make();
    flow.orders.push({ ...order, token: 'STRANGE-TOKEN', flowOrder: 12, commerceOrder: 'shop-9' });
    expect(await t.payments.confirmByToken('STRANGE-TOKEN')).toMatchObject({
      ok: false,
      reason: 'no_payment',
      scope,
    });
  });
});

describe('getStatus', () => {
  it('requests the status from Flow, and settles the payment', async () => {
    const { paymentId, order } = await make();
    const ask = () => t.payments.getStatus(scope, { ...origin, paymentId });
    expect(await ask()).toMatchObject({
      ok: true,
      payment: { status: 'pending' },
      flow: { status: 1, message: 'pendiente' },
    });
    order.status = 2;
    expect(await ask()).toMatchObject({
      ok: true,
      payment: { status: 'paid' },
      flow: { status: 2, message: 'pagada' },
    });
    order.amount = 1;
    const problem = 'The status of Flow does not match the payment: amount 1 is not 12000';
    expect(await ask()).toMatchObject({
      ok: false,
      reason: 'mismatch',
      message: problem,
      payment: { status: 'paid' },
    });
    flow.setFault('getStatusByFlowOrder', {
      kind: 'error',
      status: 400,
      body: { code: 7, message: 'no' },
    });
    expect(await ask()).toMatchObject({
      ok: false,
      reason: 'provider_failed',
      message: 'Flow refuses: no (7)',
    });
  });

  it('returns a payment without an order as it is stored', async () => {
    const result = await t.payments.create(scope, { ...paymentInput, amount: 1, callKey: null });
    const { paymentId } = result as { paymentId: string };
    expect(await t.payments.getStatus(scope, { ...origin, paymentId })).toEqual({
      ok: true,
      payment: expect.objectContaining({ status: 'failed' }),
    });
    expect(await t.payments.getStatus(scope, { ...origin, paymentId: 'ent_x' })).toMatchObject({
      reason: 'not_found',
    });
  });
});
