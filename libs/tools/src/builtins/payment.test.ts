import { randomBytes } from 'node:crypto';
import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox, saveIntegration } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { createPayments, ensurePaymentType } from '@parley/payments';
import {
  type FlowServer,
  openTestDatabase,
  seedOrganization,
  startFlowServer,
} from '@parley/testing';
import { createTestTools } from '../testing';
import type { ToolContext, Tools } from '../types';

jest.setTimeout(60_000);

const keys = { apiKey: 'KEY-1', secretKey: 'secret-1' };
const seller: Actor = { type: 'agent', slug: 'seller', roles: ['seller'] };
const args = { amount: 12_000, description: 'Pedido 1', customerEmail: 'buyer@example.com' };

let db: Db;
let entities: Entities;
let flow: FlowServer;
let tools: Tools;
let scope: Scope;
let orderId: string;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  entities = createEntities({ db });
  flow = await startFlowServer(keys);
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const payments = createPayments({ db, entities, box, publicUrl: 'https://svc.example.com', log });
  ({ tools } = createTestTools(db, { entities, payments }));
  const policy = (resource: string, action: 'execute' | 'read') => ({
    resource,
    actions: [action],
    effect: 'allow' as const,
  });
  const org = await seedOrganization(db.pool, {
    entityTypes: ['order', 'secret'].map((slug) => ({ slug, name: slug, schema: {} })),
    roles: [
      {
        slug: 'seller',
        name: 'Seller',
        policies: [
          policy('payment.*', 'execute'),
          policy('payment', 'read'),
          policy('order', 'read'),
        ],
        scopeRules: [{ entityType: 'order', field: 'data.shop', operator: 'eq', value: 'mine' }],
        fieldMasks: [{ entityType: 'payment', fieldPath: 'paymentLinkUrl', maskType: 'hide' }],
      },
      { slug: 'guest', name: 'Guest', policies: [policy('order', 'read')] },
    ],
  });
  scope = org.scope;
  const config = { apiUrl: flow.url };
  await saveIntegration(db, box, scope, { provider: 'flow', config, secrets: keys });
  await ensurePaymentType(db, scope);
  orderId = await add('order', { shop: 'mine' });
});
afterAll(async () => {
  expect(flow.problems).toEqual([]);
  await flow.stop();
  await entities.settled();
  await db.close();
});

async function add(type: string, data: JsonObject): Promise<string> {
  const result = await entities.create(scope, { type, data, actor: { type: 'system' } });
  if (!result.ok) throw new Error(result.reason);
  return result.entity.value.id;
}

const run = (
  name: string,
  input: JsonObject,
  context: Partial<ToolContext> = {},
  actor: Actor = { type: 'system' },
) =>
  tools.run(scope, {
    name,
    args: input,
    actor,
    allowed: ['payment.*'],
    context: { hops: 0, depth: 0, ...context },
  });

async function make(input: JsonObject = {}, context: Partial<ToolContext> = {}) {
  const result = await run('payment.create', { ...args, ...input }, context);
  if (!result.ok) throw new Error(result.message);
  return result.result as { paymentId: string; paymentLinkUrl: string; flowOrderId: string };
}

describe('payment.create', () => {
  it('returns the payment, its link and the order number of the provider', async () => {
    const result = await make({ entityId: orderId });
    const order = flow.orderOf(result.paymentLinkUrl);
    expect(result).toEqual({
      paymentId: order.commerceOrder,
      paymentLinkUrl: expect.stringContaining(`?token=${order.token}`),
      flowOrderId: String(order.flowOrder),
    });
    expect(
      await entities.relatedIds(scope, { entityId: orderId, relation: 'payment_for' }),
    ).toContain(result.paymentId);
  });

  it('records its events in the chain of triggers that led to the call', async () => {
    const { paymentId } = await make({}, { root: '17', hops: 2 });
    const { rows } = await db.pool.query(
      'select distinct root, hops from events where entity_id = $1',
      [paymentId],
    );
    expect(rows).toEqual([{ root: '17', hops: 2 }]);
  });

  it('creates one payment when a turn, a trigger or a custom tool repeats a call', async () => {
    for (const context of [
      { executionId: '7', callId: 'abc' },
      { callId: 'run_1-0' },
      { callId: 'c', nesting: 1 },
    ]) {
      expect(await make({}, context)).toEqual(await make({}, context));
    }
    const before = flow.orders.length;
    const ids = new Set<string>();
    for (const context of [{ executionId: '8', callId: 'abc' }, { callId: 'run_1-1' }, {}, {}]) {
      ids.add((await make({}, context)).paymentId);
    }
    // Calls by a custom tool share its call id. The key also contains the arguments, so these are
    // different calls.
    for (const amount of [500, 600, 500])
      ids.add((await make({ amount }, { callId: 'd', nesting: 1 })).paymentId);
    expect(ids.size).toBe(6);
    expect(flow.orders).toHaveLength(before + 6);
  });

  it('returns the reason when the provider refuses', async () => {
    const result = await run('payment.create', { ...args, amount: 100 });
    expect(result).toEqual({
      ok: false,
      errorType: 'execution_error',
      message: 'No payment link was made: Flow refuses: The minimum amount is 350 CLP (1901)',
    });
  });

  it.each<[JsonObject, string, RegExp]>([
    [{ amount: -1 }, 'invalid_arguments', /amount/],
    [{ amount: '12000' }, 'invalid_arguments', /amount/],
    [{ customerEmail: 'not-an-address' }, 'invalid_arguments', /customerEmail/],
    [{ currency: '12' }, 'invalid_arguments', /currency/],
    [{ entityId: 'ent_nothing' }, 'not_found', /Entity not found/],
    [{ tip: 1 }, 'invalid_arguments', /tip/],
  ])('refuses %j', async (wrong, errorType, message) => {
    const before = flow.requests.length;
    const result = await run('payment.create', { ...args, ...wrong });
    expect(result).toMatchObject({ ok: false, errorType, message: expect.stringMatching(message) });
    expect(flow.requests).toHaveLength(before);
  });

  it('requires the permission to execute, and an entity that the caller may read', async () => {
    const guest: Actor = { type: 'agent', slug: 'guest', roles: ['guest'] };
    expect(await run('payment.create', args, {}, guest)).toMatchObject({
      errorType: 'permission_denied',
      message: "Permission denied: cannot perform 'execute' on 'payment.create'",
    });
    const [theirs, secret] = [await add('order', { shop: 'theirs' }), await add('secret', {})];
    for (const entityId of [theirs, secret]) {
      expect(await run('payment.create', { ...args, entityId }, {}, seller)).toMatchObject({
        errorType: 'permission_denied',
      });
    }
    expect(await run('payment.create', { ...args, entityId: orderId }, {}, seller)).toMatchObject({
      ok: true,
    });
  });

  it('reports that payments are not configured', async () => {
    const result = await tools.run(
      { ...scope, environment: 'production' },
      {
        name: 'payment.create',
        args,
        actor: { type: 'system' },
        allowed: null,
        context: { hops: 0, depth: 0 },
      },
    );
    expect(result).toMatchObject({
      errorType: 'execution_error',
      message: 'Payments are not configured in production',
    });
  });
});

describe('payment.getStatus', () => {
  it('requests the status from the provider and returns every field', async () => {
    const { paymentId, paymentLinkUrl } = await make();
    const ask = () => run('payment.getStatus', { entityId: paymentId });
    const common = { entityId: paymentId, paymentLinkUrl, amount: 12_000, currency: 'CLP' };
    const pending = { ...common, status: 'pending', flowStatus: 1, flowStatusMessage: 'pendiente' };
    expect(await ask()).toEqual({ ok: true, result: pending });
    flow.orderOf(paymentLinkUrl).status = 2;
    const paid = { ...common, status: 'paid', flowStatus: 2, flowStatusMessage: 'pagada' };
    expect(await ask()).toEqual({ ok: true, result: paid });
  });

  it('reports why there is no status, and the recorded status', async () => {
    const { paymentId, paymentLinkUrl } = await make();
    flow.setFault('getStatusByFlowOrder', {
      kind: 'error',
      status: 400,
      body: { code: 1, message: 'closed' },
    });
    expect(await run('payment.getStatus', { entityId: paymentId })).toEqual({
      ok: false,
      errorType: 'execution_error',
      message: 'Flow refuses: closed (1); the payment is recorded as pending',
    });
    flow.setFault('getStatusByFlowOrder', null);
    Object.assign(flow.orderOf(paymentLinkUrl), { status: 2, amount: 400 });
    expect(await run('payment.getStatus', { entityId: paymentId })).toMatchObject({
      message:
        'The status of Flow does not match the payment: amount 400 is not 12000; the payment is recorded as pending',
    });
  });

  it('accepts only payments, and hides masked fields', async () => {
    expect(await run('payment.getStatus', { entityId: orderId })).toMatchObject({
      errorType: 'not_found',
    });
    expect(await run('payment.getStatus', { entityId: 'ent_no' })).toMatchObject({
      errorType: 'not_found',
    });
    const { paymentId } = await make();
    const seen = await run('payment.getStatus', { entityId: paymentId }, {}, seller);
    expect(seen).toMatchObject({ ok: true, result: { amount: 12_000 } });
    expect(JSON.stringify(seen)).not.toContain('token=');
    const guest: Actor = { type: 'agent', slug: 'guest', roles: ['guest'] };
    expect(await run('payment.getStatus', { entityId: paymentId }, {}, guest)).toMatchObject({
      errorType: 'permission_denied',
    });
  });
});

it('there are no payment tools without a payment provider', async () => {
  const { tools: without } = createTestTools(db, { entities });
  expect(await without.offer(scope, ['payment.*'])).toEqual([]);
  expect((await tools.offer(scope, ['payment.*'])).map(({ name }) => name)).toEqual([
    'payment.create',
    'payment.getStatus',
  ]);
});
