import { type FlowServer, startFlowServer } from '@parley/testing';
import { saveIntegration } from '@parley/db';
import { createPayments } from '@parley/payments';
import { createEntities } from '@parley/entities';
import { silentLogger } from '@parley/service';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { payment } from './testing/samples/payments';
import { trigger, triggerRun } from './testing/samples/triggers';
import { failedDelivery } from './testing/samples/webhook-deliveries';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi({ reconcileLimitMs: 1_500 });
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const get = async (path: string, status = 200) =>
  (await world.call('get', path).expect(status)).body;
const post = async (path: string, status = 200, body: object = {}) =>
  (await world.call('post', path, { body }).expect(status)).body;
const statusOf = async (table: string, id: string): Promise<string> =>
  (await api.db.pool.query(`select status::text from ${table} where id = $1`, [id])).rows[0].status;

describe('webhook deliveries', () => {
  test('a delivery is shown with secrets masked, and replayed', async () => {
    const id = await failedDelivery(world);
    expect(await get(`/v1/webhook-deliveries/${id}`)).toMatchObject({
      id,
      status: 'failed',
      reason: 'broken',
      body: { secret: '***', text: 'hola' },
    });
    expect(await post(`/v1/webhook-deliveries/${id}/replay`)).toMatchObject({
      status: 'received',
      attempts: 0,
    });
    const rejected = await failedDelivery(world, 'rejected');
    expect(await post(`/v1/webhook-deliveries/${rejected}/replay`, 409)).toMatchObject({
      code: 'delivery_not_replayable',
      error: 'A rejected delivery cannot be replayed',
    });
    expect(await statusOf('webhook_deliveries', rejected)).toBe('rejected');
  });

  test('a replay by filter resets what matches once, also when two are requested at once, and counts its progress', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => failedDelivery(world)));
    await failedDelivery(world, 'rejected');
    const other = await api.world();
    const foreign = await failedDelivery(other);
    const replays = await Promise.all(
      [1, 2].map(() => post('/v1/webhook-deliveries/replay', 202, { status: 'failed' })),
    );
    expect(replays.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBe(4);
    expect(await statusOf('webhook_deliveries', foreign)).toBe('failed');
    const { id } = replays.find(({ deliveries }) => deliveries > 0);
    await api.db.pool.query(
      `update webhook_deliveries set status = 'processed' where id = (select min(id) from webhook_deliveries where replay_id = $1)`,
      [id],
    );
    const progress = await get(`/v1/webhook-replays/${id}`);
    expect(progress).toMatchObject({ processed: 1, failed: 0, waiting: progress.deliveries - 1 });
    expect((await get('/v1/webhook-deliveries?status=failed')).data).toEqual([]);
    expect(ids).toHaveLength(4);
    for (const status of ['rejected', 'held', 'received'])
      await post('/v1/webhook-deliveries/replay', 400, { status });
  });

  test('a delivery of an environment is not listed, read or replayed in the other one, by keys and by people', async () => {
    const production = await api.sibling(world, 'production');
    const person = await api.person(world, 'admin');
    const ids = {
      development: await failedDelivery(world),
      production: await failedDelivery(production),
    };
    await api.db.pool.query(`update webhook_deliveries set provider = 'flow' where tenant = $1`, [
      world.scope.tenant,
    ]);
    for (const [environment, key] of [
      ['development', world.key],
      ['production', production.key],
    ] as const) {
      const foreign = ids[environment === 'development' ? 'production' : 'development'];
      for (const as of [
        { key },
        { headers: { ...person.headers, 'Parley-Environment': environment } },
      ]) {
        const ask = (method: 'get' | 'post', path: string, body?: object) =>
          api.call(method, path, { ...as, body });
        const { body } = await ask('get', '/v1/webhook-deliveries').expect(200);
        expect(body.data.map(({ id }: { id: string }) => id)).toEqual([ids[environment]]);
        await ask('get', `/v1/webhook-deliveries/${foreign}`).expect(404);
        await ask('post', `/v1/webhook-deliveries/${foreign}/replay`).expect(404);
      }
    }
    const replayed = await post('/v1/webhook-deliveries/replay', 202, {
      status: 'failed',
      provider: 'flow',
    });
    expect(replayed.deliveries).toBe(1);
    expect(await statusOf('webhook_deliveries', ids.production)).toBe('failed');
  });

  test.each([
    ['flow', 0],
    ['resend', 0],
    ['polar', 1],
    ['clerk', 1],
  ])(
    'a delivery of %s without an environment is one of production, or of both',
    async (provider, inDevelopment) => {
      const production = await api.sibling(world, 'production');
      const id = await failedDelivery(world);
      await api.db.pool.query(
        'update webhook_deliveries set provider = $2, environment = null where id = $1',
        [id, provider],
      );
      const listed = async ({ key }: World) =>
        (await api.call('get', '/v1/webhook-deliveries', { key }).expect(200)).body.data.length;
      expect([await listed(world), await listed(production)]).toEqual([inDevelopment, 1]);
      await api
        .call('get', `/v1/webhook-deliveries/${id}`, { key: world.key })
        .expect(inDevelopment > 0 ? 200 : 404);
    },
  );

  test('deliveries of no organization are not visible', async () => {
    const id = await failedDelivery(world);
    await api.db.pool.query('update webhook_deliveries set tenant = null where id = $1', [id]);
    expect((await get('/v1/webhook-deliveries')).data).toEqual([]);
    await get(`/v1/webhook-deliveries/${id}`, 404);
    await post(`/v1/webhook-deliveries/${id}/replay`, 404);
  });

  test('the list is stable while deliveries arrive', async () => {
    for (let i = 0; i < 5; i++) await failedDelivery(world);
    const seen: string[] = [];
    for (let cursor = '', more = true; more;) {
      const page = await get(`/v1/webhook-deliveries?limit=2&cursor=${cursor}`);
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      ({ cursor, hasMore: more } = page);
      if (seen.length === 2) await failedDelivery(world);
    }
    expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  });
});

describe('triggers', () => {
  test('a trigger has its definition as it was pushed', async () => {
    const definition = {
      on: { entityType: 'order', action: 'updated', condition: { 'data.paid': true } },
      actions: [
        {
          tool: 'email.send',
          args: { to: '{{trigger.data.email}}', subject: 'Señal ñ' },
          as: 'mail',
        },
      ],
      schedule: { delay: '1h', cancelPrevious: true },
      retry: { maxAttempts: 3, backoffMs: 500 },
    };
    await trigger(world, definition);
    expect((await get('/v1/triggers')).data).toMatchObject([
      { slug: 'new-order', on: definition.on, definition },
    ]);
  });

  test('a trigger is disabled and enabled; one that was pushed disabled is enabled by a push only', async () => {
    const slug = await trigger(world);
    expect(await post(`/v1/triggers/${slug}/disable`)).toEqual({ slug, enabled: false });
    expect((await get('/v1/triggers')).data[0]).toMatchObject({ slug, enabled: false });
    expect(await post(`/v1/triggers/${slug}/enable`)).toEqual({ slug, enabled: true });
    await post('/v1/triggers/unknown/enable', 404);
    const other = await api.world();
    await trigger(other, { enabled: false });
    const { body } = await other
      .call('post', '/v1/triggers/new-order/enable', { body: {} })
      .expect(409);
    expect(body.code).toBe('disabled_by_definition');
  });

  test('a dead run is retried once, a scheduled one cancelled, and an ended one neither', async () => {
    const [dead, scheduled, done] = [
      await triggerRun(world, 'dead'),
      await triggerRun(world, 'scheduled'),
      await triggerRun(world, 'succeeded'),
    ];
    expect(await post(`/v1/trigger-runs/${dead}/retry`)).toMatchObject({
      id: dead,
      status: 'scheduled',
      error: null,
    });
    expect((await post(`/v1/trigger-runs/${dead}/retry`, 409)).code).toBe('run_not_retryable');
    expect(await post(`/v1/trigger-runs/${scheduled}/cancel`)).toMatchObject({
      status: 'cancelled',
    });
    expect((await post(`/v1/trigger-runs/${done}/cancel`, 409)).code).toBe('run_ended');
    await post('/v1/trigger-runs/run_unknown/retry', 404);
    expect(
      (await get('/v1/trigger-runs?status=succeeded')).data.map(({ id }: { id: string }) => id),
    ).toEqual([done]);
    expect(await get(`/v1/trigger-runs/${dead}`)).toMatchObject({ steps: [], context: {} });
  });

  test('all dead runs of a trigger are retried at once', async () => {
    const ids = [await triggerRun(world, 'dead'), await triggerRun(world, 'dead')];
    await triggerRun(world, 'succeeded');
    const { runs } = await post('/v1/trigger-runs/retry', 200, { trigger: 'new-order' });
    expect(runs.sort()).toEqual(ids.sort());
    expect(
      (await post('/v1/trigger-runs/cancel', 200, { trigger: 'new-order' })).runs,
    ).toHaveLength(2);
    await post('/v1/trigger-runs/retry', 404, { trigger: 'unknown' });
    await post('/v1/trigger-runs/retry', 400, {});
  });
});

describe('payments', () => {
  let flow: FlowServer;
  beforeAll(async () => {
    flow = await startFlowServer();
  });
  afterAll(() => flow.stop());

  test('the status is requested from the provider and applied; a failing provider is 502', async () => {
    const account = { apiKey: 'k1', secretKey: 's1' };
    flow.addAccount(account);
    const { db, box } = api.deps;
    await saveIntegration(db, box, world.scope, {
      provider: 'flow',
      config: { apiUrl: flow.url, currency: 'CLP' },
      secrets: account,
    });
    const entities = createEntities({ db });
    const payments = createPayments({
      db,
      entities,
      box,
      publicUrl: 'https://parley.example',
      log: silentLogger(),
    });
    const created = await payments.create(world.scope, {
      amount: 24990,
      currency: 'CLP',
      description: 'Order 1',
      customerEmail: 'ana@example.com',
      actor: { type: 'system' },
      callKey: 'k',
    });
    if (!created.ok) throw new Error(JSON.stringify(created));
    await entities.settled();
    const { paymentId: id } = created;
    flow.orders[0]!.status = 2;
    const answer = await post(`/v1/payments/${id}/reconcile`);
    expect(answer).toMatchObject({
      payment: { id, data: { status: 'paid' } },
      provider: { status: 2 },
    });
    const details = await get(`/v1/payments/${id}`);
    expect(details.events.map(({ type }: { type: string }) => type)).toContain('payment.paid');
    flow.setFault('getStatusByFlowOrder', { kind: 'error', status: 500, body: {} });
    expect((await post(`/v1/payments/${id}/reconcile`, 502)).code).toBe('provider_failed');
    flow.setFault('getStatusByFlowOrder', null);
    const { body } = await world.call('get', '/v1/audit-log?action=payment.reconciled');
    expect(body.data.map(({ after }: { after: object }) => after)).toEqual([
      { status: 'paid', problem: expect.any(String) },
      { status: 'paid' },
    ]);
  });

  test('the pending payments of an environment are reconciled, by one run at a time and within a limit', async () => {
    const path = '/v1/payments/reconcile';
    expect((await post(path, 409)).code).toBe('not_configured');
    const account = { apiKey: 'k2', secretKey: 's2' };
    flow.addAccount(account);
    const { db, box } = api.deps;
    await saveIntegration(db, box, world.scope, {
      provider: 'flow',
      config: { apiUrl: flow.url },
      secrets: account,
    });
    const entities = createEntities({ db });
    const payments = createPayments({
      db,
      entities,
      box,
      publicUrl: 'https://parley.example',
      log: silentLogger(),
    });
    const at = flow.orders.length;
    for (const callKey of ['a', 'b', 'c']) {
      const created = await payments.create(world.scope, {
        amount: 1000,
        currency: 'CLP',
        description: 'Order',
        customerEmail: 'ana@example.com',
        actor: { type: 'system' },
        callKey,
      });
      if (!created.ok) throw new Error(JSON.stringify(created));
    }
    await entities.settled();
    flow.orders[at]!.status = 2;
    flow.orders[at + 1]!.status = 3;
    expect(await post(path)).toMatchObject({ asked: 0, isComplete: true });
    const runs = await Promise.all(
      [1, 2].map(() => world.call('post', path, { body: { olderThanMinutes: 0 } })),
    );
    expect(runs.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(runs.find(({ status }) => status === 200)!.body).toEqual({
      asked: 3,
      paid: 1,
      failed: 1,
      unchanged: 1,
      mismatched: 0,
      errors: 0,
      isComplete: true,
      problems: [],
    });
    expect(runs.find(({ status }) => status === 409)!.body.code).toBe('already_running');
    const { body } = await world.call('get', '/v1/audit-log?action=payments.reconciled');
    expect(body.data).toMatchObject([{ after: { asked: 3, paid: 1 } }, { after: { asked: 0 } }]);
    await post(path, 400, { olderThanMinutes: -1 });
    flow.setFault('getStatusByFlowOrder', { kind: 'slow', ms: 60_000 });
    const startedAt = Date.now();
    expect(await post(path, 200, { olderThanMinutes: 0 })).toMatchObject({ isComplete: false });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    flow.setFault('getStatusByFlowOrder', null);
    const other = await api.world();
    await saveIntegration(db, box, other.scope, {
      provider: 'flow',
      config: { apiUrl: 'x' },
      secrets: account,
    });
    const broken = await other.call('post', path).expect(200);
    expect(broken.body).toMatchObject({
      isComplete: false,
      problems: [expect.stringMatching(/^The integration is not/)],
    });
  });

  test('payments are listed by status, and credits have a balance and entries', async () => {
    await payment(world);
    expect((await get('/v1/payments?status=draft')).data).toHaveLength(1);
    expect((await get('/v1/payments?status=paid')).data).toEqual([]);
    await get('/v1/payments?cursor=x', 400);
    for (const [cause, cents] of [
      ['a', 5000],
      ['b', -1000],
    ] as const)
      await api.db.pool.query(
        `insert into credit_entries (id, tenant, amount_cents, reason, cause) values ($1, $2, $3, 'x', $1)`,
        [`${cause}-${world.scope.tenant}`, world.scope.tenant, cents],
      );
    expect(await get('/v1/credits')).toEqual({ balanceCents: 4000 });
    const first = await get('/v1/credits/entries?limit=1');
    const second = await get(`/v1/credits/entries?limit=1&cursor=${first.cursor}`);
    expect([first, second].map(({ data }) => data.length)).toEqual([1, 1]);
    expect(second.hasMore).toBe(false);
  });
});
