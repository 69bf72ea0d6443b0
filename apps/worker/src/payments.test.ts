import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Scope, onRefusal } from '@parley/contracts';
import { type Db, createDb, createSecretBox, saveIntegration } from '@parley/db';
import { ensurePaymentType } from '@parley/payments';
import {
  type RedisConnection,
  closeRedis,
  connectRedis,
  createQueues,
  waitForRedis,
} from '@parley/redis';
import { pushResources } from '@parley/resources';
import { createMetrics, loadConfig, silentLogger } from '@parley/service';
import {
  type FlowServer,
  createTestRedis,
  freePort,
  openTestDatabase,
  seedOrganization,
  startFlowServer,
  startTcpProxy,
  until,
} from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { createInbox } from '@parley/webhooks';
import { createIngestApp } from '../../webhook-ingest/src/app';
import { createJobSender } from '../../webhook-ingest/src/job-sender';
import { createRefusalLog } from '../../webhook-ingest/src/refusal-log';
import { retentionDays, workerVariables } from './config';
import { type JobRuntime, createJobRuntime } from './job-runtime';
import { createWorker } from './worker';

jest.setTimeout(90_000);
const limits = { limitMs: 30_000 };

const keys = { apiKey: 'KEY-1', secretKey: 'secret-1' };
const log = silentLogger();
const metrics = createMetrics('worker');
const actor = { type: 'system' as const };
const closing: (() => Promise<unknown>)[] = [];

let db: Db & { url: string };
let flow: FlowServer;
let runtime: JobRuntime;
let scope: Scope;
const secretsKey = Buffer.alloc(32).toString('base64');
let queues: ReturnType<typeof createQueues>;
let webhookUrl: string;
let redisUrl: string;

beforeAll(async () => {
  const redis = await createTestRedis();
  const database = (db = await openTestDatabase(createDb));
  redisUrl = redis.url;
  closing.push(() => database.close());
  flow = await startFlowServer(keys);
  closing.push(() => flow.stop());
  const producer = await connected(redis.url);
  queues = createQueues({ redis: producer });
  closing.push(() => queues.close());
  webhookUrl = await startIngest(db, producer);
  const config = loadConfig(workerVariables, {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: secretsKey,
    PUBLIC_URL: webhookUrl,
  });
  runtime = createJobRuntime({ config, db, log, metrics });
  for (const { close } of [...runtime.closing].reverse()) closing.push(close);
  scope = (
    await seedOrganization(db.pool, {
      entityTypes: [{ slug: 'receipt', name: 'Receipt', schema: {} }],
    })
  ).scope;
  const integration = { provider: 'flow', config: { apiUrl: flow.url }, secrets: keys };
  await saveIntegration(db, createSecretBox(secretsKey), scope, integration);
  await ensurePaymentType(db, scope);
  const pushed = await pushResources(db, scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    resources: {
      triggers: [
        {
          slug: 'thank',
          name: 'Thank',
          on: { entityType: 'payment', action: 'updated', condition: { 'data.status': 'paid' } },
          actions: [
            {
              tool: 'entity.create',
              args: { type: 'receipt', data: { email: '{{trigger.data.customerEmail}}' } },
            },
          ],
        },
      ],
    },
    knownTools: builtInToolNames,
  });
  if (!pushed.ok) throw new Error(JSON.stringify(pushed));
  for (let at = 0; at < 2; at += 1) {
    const connection = connectRedis({ url: redis.url, role: 'worker' });
    const worker = createWorker({
      ...runtime,
      db,
      queues,
      redis: connection,
      log,
      metrics: createMetrics('worker'),
      ...retentionDays(config),
    });
    closing.push(
      () => closeRedis(connection),
      () => worker.close(),
    );
  }
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function connected(url: string): Promise<RedisConnection> {
  const redis = connectRedis({ url, role: 'producer' });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, 5_000);
  return redis;
}

/** Starts webhook-ingest on a database and a Redis. Returns its address. */
async function startIngest(database: Db, redis: RedisConnection): Promise<string> {
  const inbox = createInbox(database);
  const sending = createQueues({ redis });
  closing.push(() => sending.close());
  const app = createIngestApp({
    db: database,
    inbox,
    jobs: createJobSender({ queues: sending, log }),
    refusals: createRefusalLog({ inbox, log }),
    log,
    checkResponses: true,
    secrets: { clerk: [], kapso: [], polar: [], resend: [] },
  });
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = async (
  body: string,
  { url = webhookUrl, type = 'application/x-www-form-urlencoded' } = {},
) => {
  const response = await fetch(`${url}/webhook/flow`, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  });
  return { status: response.status, body: (await response.json()) as unknown };
};
const received = { status: 200, body: { received: true } };

async function make(of = scope) {
  const wanted = {
    amount: 12_000,
    description: 'Pedido',
    customerEmail: `b${Math.random()}@example.com`,
  };
  const result = await runtime.payments.create(of, { ...wanted, actor, callKey: null });
  if (!result.ok) throw new Error(result.message);
  return { ...wanted, paymentId: result.paymentId, order: flow.orderOf(result.paymentLinkUrl) };
}
const statusOf = async (id: string) => {
  const found = await runtime.entities.get(scope, { type: 'payment', id });
  return found.ok ? found.entity.value.data.status : null;
};
const receipts = async (email: string) => {
  const found = await runtime.entities.query(scope, {
    type: 'receipt',
    filters: { 'data.email': email },
    limit: 10,
  });
  return found.ok ? found.page.entities.length : -1;
};
const deliveries = async (body: string) =>
  (
    await db.pool.query(
      'select status, reason, tenant, environment from webhook_deliveries where body = $1 order by id',
      [Buffer.from(body)],
    )
  ).rows as {
    status: string;
    reason: string | null;
    tenant: number | null;
    environment: string | null;
  }[];
const waitForDeliveries = async (body: string, count = 1) => {
  await until(async () => {
    const rows = await deliveries(body);
    return rows.length === count && rows.every(({ status }) => status !== 'received');
  }, limits);
  return deliveries(body);
};

it('a callback marks the payment as paid, and its trigger runs', async () => {
  const { paymentId, order, customerEmail } = await make();
  expect(order.urlConfirmation).toBe(`${webhookUrl}/webhook/flow`);
  order.status = 2;
  expect(await flow.notify(order)).toBe(200);
  await until(async () => (await statusOf(paymentId)) === 'paid', limits);
  await until(async () => (await receipts(customerEmail)) === 1, limits);
  expect(await waitForDeliveries(`token=${order.token}`)).toEqual([
    {
      status: 'processed',
      reason: `payment ${paymentId} is paid`,
      tenant: scope.tenant,
      environment: scope.environment,
    },
  ]);
});

it('the callback of a payment belongs to its environment, also after a replay of one that had none', async () => {
  const production: Scope = { ...scope, environment: 'production' };
  const integration = { provider: 'flow', config: { apiUrl: flow.url }, secrets: keys };
  await saveIntegration(db, createSecretBox(secretsKey), production, integration);
  await ensurePaymentType(db, production);
  const { order } = await make(production);
  order.status = 2;
  await flow.notify(order);
  const body = `token=${order.token}`;
  const owner = { tenant: scope.tenant, environment: 'production' };
  expect(await waitForDeliveries(body)).toMatchObject([owner]);
  await db.pool.query(
    `update webhook_deliveries set environment = null, status = 'received', processed_at = null, received_at = now() - interval '1 minute'
     where body = $1`,
    [Buffer.from(body)],
  );
  await queues.enqueue('sweep-deliveries', {});
  expect(await waitForDeliveries(body)).toMatchObject([owner]);
});

it('twenty concurrent callbacks, with reconciliation between them, cause one event and one trigger run', async () => {
  const { paymentId, order, customerEmail } = await make();
  await db.pool.query('update entities set created_at = created_at - 4000000 where id = $1', [
    paymentId,
  ]);
  order.status = 2;
  await Promise.all([
    ...Array.from({ length: 20 }, () => flow.notify(order)),
    ...Array.from({ length: 5 }, () => queues.enqueue('reconcile-payments', {})),
  ]);
  await waitForDeliveries(`token=${order.token}`, 20);
  await until(async () => (await receipts(customerEmail)) > 0, limits);
  const { rows } = await db.pool.query(
    `select (select count(*)::int from events where entity_id = $1 and type = 'payment.paid') as paid,
       (select count(*)::int from trigger_runs where entity_id = $1 and trigger_slug = 'thank') as runs`,
    [paymentId],
  );
  expect(rows).toEqual([{ paid: 1, runs: 1 }]);
  expect(await receipts(customerEmail)).toBe(1);
});

it('a callback of a pending order changes nothing, and a later one with the same token applies', async () => {
  const { paymentId, order } = await make();
  await flow.notify(order);
  expect(await waitForDeliveries(`token=${order.token}`)).toMatchObject([{ status: 'processed' }]);
  expect(await statusOf(paymentId)).toBe('pending');
  order.status = 2;
  await flow.notify(order);
  await until(async () => (await statusOf(paymentId)) === 'paid', limits);
});

it('a callback is retried while Flow is down', async () => {
  const { paymentId, order } = await make();
  order.status = 3;
  flow.setFault('getStatus', { kind: 'overload' }, { times: 3 });
  expect(await flow.notify(order)).toBe(200);
  await until(async () => (await statusOf(paymentId)) === 'failed', limits);
});

describe('the response is always 200', () => {
  const fixtures = join(__dirname, '../../../libs/payments/fixtures/webhooks');
  it('to a token that no payment has, which is searched at Flow and stored with the result', async () => {
    const names = [
      'payment.confirmation',
      'payment.confirmation.unknown-token',
      'payment.confirmation.encoded',
    ];
    const reason = 'No account at Flow knows the token';
    await Promise.all(
      names.map(async (name) => {
        const body = readFileSync(join(fixtures, `${name}.txt`), 'utf8');
        expect(await post(body)).toEqual(received);
        const token = new URLSearchParams(body).get('token')!;
        expect(await waitForDeliveries(new URLSearchParams({ token }).toString())).toEqual([
          { status: 'unattributed', reason, tenant: null, environment: null },
        ]);
      }),
    );
  });

  it.each([
    ['no token', readFileSync(join(fixtures, 'payment.confirmation.missing-token.txt'), 'utf8')],
    ['an empty token', readFileSync(join(fixtures, 'payment.confirmation.empty.txt'), 'utf8')],
    ['a token that is too long', `token=${'x'.repeat(201)}`],
    ['a token with a line break', 'token=a%0Ab'],
  ])('and a body with %s is not stored', async (_name, body) => {
    const count = async () =>
      (await db.pool.query('select count(*)::int from webhook_deliveries')).rows;
    const before = await count();
    expect(await post(body)).toEqual(received);
    expect(await count()).toEqual(before);
  });

  it('and only the token of a form is stored', async () => {
    const { order } = await make();
    expect(await post(`more=${'x'.repeat(9_000)}&token=${order.token}`)).toEqual(received);
    expect(await deliveries(`token=${order.token}`)).toHaveLength(1);
  });

  it.each<[string, string, object]>([
    ['JSON', '{"token":"x"}', { type: 'application/json' }],
    ['random bytes', '\u0000\ufffd%zz&&=', {}],
    ['a body that is too long', `token=${'x'.repeat(100_000)}`, {}],
    ['a token of null characters', 'token=%00%00', {}],
  ])('to %s', async (_name, body, options) => {
    expect(await post(body, options)).toEqual(received);
  });

  it('and the token is decoded', async () => {
    const { order } = await make();
    order.token = 'FIXT+URE/0A1B=';
    await post('token=FIXT%2BURE%2F0A1B%3D&extra=1&again=1');
    await until(
      async () => flow.requests.some(({ params }) => params.token === 'FIXT+URE/0A1B='),
      limits,
    );
  });

  it('without PostgreSQL, as the token is held in Redis; without Redis, as its row waits for the sweep; and without both', async () => {
    const noDatabase = createDb({
      databaseUrl: `postgresql://postgres@127.0.0.1:${await freePort()}/none`,
    });
    const noRedis = connectRedis({
      url: `redis://127.0.0.1:${await freePort()}`,
      role: 'producer',
    });
    closing.push(
      () => noDatabase.close(),
      () => closeRedis(noRedis),
    );
    const redis = await connected(redisUrl);
    const [one, two, three] = [await make(), await make(), await make()];
    for (const { order } of [one, two, three]) order.status = 2;

    expect(
      await post(`token=${one.order.token}`, { url: await startIngest(noDatabase, redis) }),
    ).toEqual(received);
    await until(async () => (await statusOf(one.paymentId)) === 'paid', limits);
    expect(await deliveries(`token=${one.order.token}`)).toMatchObject([{ status: 'processed' }]);

    expect(await post(`token=${two.order.token}`, { url: await startIngest(db, noRedis) })).toEqual(
      received,
    );
    await until(async () => (await statusOf(two.paymentId)) === 'paid', limits);

    expect(
      await post(`token=${three.order.token}`, { url: await startIngest(noDatabase, noRedis) }),
    ).toEqual(received);
    await db.pool.query('update entities set created_at = created_at - 4000000 where id = $1', [
      three.paymentId,
    ]);
    await queues.enqueue('reconcile-payments', {});
    await until(async () => (await statusOf(three.paymentId)) === 'paid', limits);
  });
});

describe('tokens that any client sends', () => {
  const strange = async () => {
    const { rows } = await db.pool.query<{ count: number }>(
      `select count(*)::int as count from webhook_deliveries where convert_from(body, 'utf8') like 'token=STRANGE%'`,
    );
    return rows[0]!.count;
  };
  const heldTokens = async () =>
    (await queues.heldTokens.oldest(100_000)).map(({ token }) => token);

  it('make no rows, are held up to a limit, and do not delay a callback, whatever the size of entities', async () => {
    const description = randomBytes(400_000).toString('hex');
    for (let at = 0; at < 5; at += 1)
      await runtime.entities.create(scope, {
        actor,
        type: 'receipt',
        data: { flowToken: `T${at}`, description },
      });
    const refusals: string[] = [];
    onRefusal((limit) => refusals.push(limit));
    const { paymentId, order } = await make();
    order.status = 2;
    const flood = Array.from({ length: 1_500 }, (_one, at) => `token=STRANGE-${at}`);
    while (flood.length > 0) await Promise.all(flood.splice(0, 100).map((body) => post(body)));
    expect((await heldTokens()).length).toBeLessThanOrEqual(1_000);
    expect(refusals).toContain('unknown_payment_tokens');
    expect(await flow.notify(order)).toBe(200);
    await until(async () => (await statusOf(paymentId)) === 'paid', limits);
    // A minute later those that have not been searched are dropped.
    const redis = await connected(redisUrl);
    for (const token of await heldTokens()) await redis.zincrby('parley:held-tokens', -60, token);
    await until(async () => (await heldTokens()).length === 0, limits);
    // At most 30 are searched in a minute by a process, and each search makes a row.
    expect(await strange()).toBeLessThanOrEqual(120);
    expect(flow.requests.filter(({ params }) => params.token?.startsWith('STRANGE')).length).toBe(
      await strange(),
    );
  });

  it('of a payment make at most 60 rows a minute', async () => {
    const { order } = await make();
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 30 }, () => flow.notify(order)));
    const count = (await deliveries(`token=${order.token}`)).length;
    expect(count).toBeGreaterThanOrEqual(60);
    // Another minute may have begun.
    expect(count).toBeLessThan(90);
  });

  it('include one whose payment is stored only after its callback: it is settled when the payment appears', async () => {
    const { paymentId, order } = await make();
    order.status = 2;
    await db.pool.query('update payment_orders set flow_token = null where payment_id = $1', [
      paymentId,
    ]);
    await db.pool.query(`update entities set data = data - 'flowToken' where id = $1`, [paymentId]);
    expect(await flow.notify(order)).toBe(200);
    expect(await deliveries(`token=${order.token}`)).toEqual([]);
    await db.pool.query('update payment_orders set flow_token = $2 where payment_id = $1', [
      paymentId,
      order.token,
    ]);
    await until(async () => (await statusOf(paymentId)) === 'paid', limits);
    expect(await waitForDeliveries(`token=${order.token}`)).toMatchObject([
      { status: 'processed' },
    ]);
  });
});

describe('while PostgreSQL is silent', () => {
  it('a callback is answered with 200, and its payment is settled afterwards; with a silent Redis too', async () => {
    const [postgres, redis] = [await startTcpProxy(db.url), await startTcpProxy(redisUrl)];
    const database = createDb({ databaseUrl: postgres.url });
    const producer = await connected(redis.url);
    const url = await startIngest(database, producer);
    closing.push(postgres.cut, redis.cut, () => database.close());
    const [one, two, lost] = [await make(), await make(), await make()];
    for (const { order } of [one, two, lost]) order.status = 2;
    // Now connections are warm.
    expect(await post(`token=${one.order.token}`, { url })).toEqual(received);
    await until(async () => (await statusOf(one.paymentId)) === 'paid', limits);

    postgres.freeze();
    expect(await post(`token=${two.order.token}`, { url })).toEqual(received);
    await until(async () => (await statusOf(two.paymentId)) === 'paid', limits);

    redis.freeze();
    const tenSeconds = AbortSignal.timeout(10_000);
    const answer = await fetch(`${url}/webhook/flow`, {
      method: 'POST',
      body: new URLSearchParams({ token: lost.order.token }),
      signal: tenSeconds,
    });
    expect(answer.status).toBe(200);
    expect(await statusOf(lost.paymentId)).toBe('pending');
    await db.pool.query('update entities set created_at = created_at - 4000000 where id = $1', [
      lost.paymentId,
    ]);
    await queues.enqueue('reconcile-payments', {});
    await until(async () => (await statusOf(lost.paymentId)) === 'paid', limits);
    postgres.thaw();
    redis.thaw();
  });
});

it('metrics count the payments', async () => {
  const text = await metrics.registry.metrics();
  const counted = text
    .split('\n')
    .filter((line) => /^payments?_.* [1-9]\d*$/.test(line))
    .join('\n');
  expect(counted).toMatch(/payments_settled_total\{status="paid",source="webhook"/);
  expect(counted).toMatch(/payments_settled_total\{status="paid",source="reconciliation"/);
  expect(counted).toMatch(/payments_created_total\{result="pending"/);
  expect(counted).toMatch(/payments_reconciled_total\{result="paid"/);
  expect(flow.problems).toEqual([]);
});
