import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import Redis from 'ioredis';
import { type Stack, rounds, startStack, until } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { orderPaid } from './deliveries';
import { type OwnServers, startOwnServers } from './own-servers';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/** Duration of an outage. */
const outageMs = rounds(0, 30_000);
/**
 * Services must recover within 5 s, which only the full run checks: it needs a machine
 * without other load.
 */
const recovered = { limitMs: outageMs > 0 ? 5_000 : 30_000, everyMs: 100 };

/** This file has its own servers, as it stops them. */
let servers: OwnServers;
let stack: Stack;
let tenant: Tenant;
let client: Client;
let key: string;

beforeAll(async () => {
  servers = await startOwnServers('outage');
  stack = await startStack({
    databaseUrl: servers.postgres.url,
    redisUrl: servers.redis.url,
    bundles: shared.bundles,
    services: ['data', 'chat', 'webhook-ingest', 'worker', 'gateway'],
    environment: shared.webhookSecrets,
  });
  tenant = await createTenant({ url: stack.url, databaseUrl: servers.postgres.url });
  const made = await tenant.client();
  ({ key } = made);
  client = made;
  await push(client, catalog);
}, 60_000);
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await servers?.stop();
});

const list = () => client.get('/v1/data/product');
const chat = () => client.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hi' });
let orders = 0;
/** Posts the payment of an order of one dollar. Returns the status of the response. */
async function pay(): Promise<number> {
  const { path, body, headers } = orderPaid(tenant.organizationId, `order-${(orders += 1)}`, 100);
  return (await createClient(stack.url).send('POST', path, body, headers())).status;
}
const credited = async (): Promise<number> => {
  const [row] = await tenant.query(
    'select count(*)::int as count from credit_entries where tenant = $1',
    [tenant.scope.tenant],
  );
  return row!.count as number;
};

it(
  'without Redis all requests are served, and jobs run after its return',
  async () => {
    await servers.redis.stop();
    expect((await list()).status).toBe(200);
    expect((await client.post('/v1/data/product', { data: {} })).status).toBe(201);
    expect((await chat()).status).toBe(200);
    expect(await pay()).toBe(200);
    // wall clock: the length of the outage.
    await sleep(outageMs);
    await servers.restartRedis();
    expect((await list()).status).toBe(200);
    // Deliveries during the outage have no job and wait for a sweep. A delivery after it is
    // processed immediately.
    const before = await credited();
    await until(async () => {
      expect(await pay()).toBe(200);
      return (await credited()) > before;
    }, recovered);
    await until(async () => (await credited()) === orders, { limitMs: 30_000, everyMs: 100 });
  },
  120_000 + outageMs,
);

it('while the memory of Redis is full the worker is not ready, and all requests are served', async () => {
  const redis = new Redis(servers.redis.url);
  const ready = (name: 'worker' | 'data') => fetch(`${stack.services[name]!.internalUrl}/readyz`);
  try {
    await redis.config('SET', 'maxmemory', '1');
    const answer = await until(() => ready('worker'), { isThere: ({ status }) => status === 503 });
    expect(await answer.json()).toMatchObject({
      checks: { database: 'ok', redis: expect.stringMatching(/^OOM/) },
    });
    expect((await ready('data')).status).toBe(200);
    expect((await client.post('/v1/data/product', { data: {} })).status).toBe(201);
    expect((await chat()).status).toBe(200);
    await redis.config('SET', 'maxmemory', '0');
    await until(() => ready('worker'), { isThere: ({ ok }) => ok });
  } finally {
    redis.disconnect();
  }
});

it('a worker whose Redis is away shuts down in order', async () => {
  await servers.redis.stop();
  const worker = stack.services.worker!;
  await until(async () => (await fetch(`${worker.internalUrl}/readyz`)).status === 503);
  expect(await worker.stop()).toBe(0);
  await servers.restartRedis();
  await worker.start();
});

it(
  'without PostgreSQL requests are answered with 503 and Retry-After, and succeed within seconds of its return',
  async () => {
    await servers.postgres.stop();
    for (const call of [list, chat]) {
      const answer = await call();
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.body).toMatchObject({
        error: 'Service temporarily unavailable',
        code: 'unavailable',
      });
    }
    expect(await pay()).toBe(503);
    orders -= 1; // the same order is sent again below
    expect((await createClient(stack.url).get('/health')).status).toBe(200);
    // The processes keep running and report that they are not ready.
    expect((await fetch(`${stack.services.data!.internalUrl}/livez`)).status).toBe(200);
    expect((await fetch(`${stack.services.data!.internalUrl}/readyz`)).status).toBe(503);

    // wall clock: the length of the outage.
    await sleep(outageMs);
    await servers.restartPostgres();
    await until(
      async () => (await list()).status === 200 && (await chat()).status === 200,
      recovered,
    );
    expect(await pay()).toBe(200);
    await until(async () => (await credited()) === orders, recovered);
    expect((await createClient(stack.url, key).get('/v1/entity-types')).body.data).toHaveLength(2);
  },
  120_000 + outageMs,
);

it('while PostgreSQL is stopped by a signal, requests are answered with 503 and callbacks of payments with 200 within 10 s', async () => {
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const { stdout } = await promisify(execFile)('ps', [
      '-o',
      'pid=',
      '--ppid',
      String(servers.postgres.pid),
    ]);
    for (const pid of [servers.postgres.pid, ...stdout.trim().split(/\s+/).map(Number)])
      process.kill(pid, name);
  };
  await signal('SIGSTOP');
  try {
    const pushed = client.post('/v1/sync/state', {});
    const answers = Promise.all([
      list(),
      chat(),
      pushed,
      client.post('/v1/data/product', { data: {} }),
    ]);
    for (const token of ['ONE', 'TWO']) {
      const callback = await fetch(`${stack.url}/webhook/flow`, {
        method: 'POST',
        body: new URLSearchParams({ token }),
        signal: AbortSignal.timeout(10_000),
      });
      expect([callback.status, await callback.json()]).toEqual([200, { received: true }]);
    }
    for (const { status, headers, body } of await answers)
      expect([status, headers.get('retry-after'), body.code]).toEqual([503, '2', 'unavailable']);
  } finally {
    await signal('SIGCONT');
  }
  await until(
    async () => (await list()).status === 200 && (await chat()).status === 200,
    recovered,
  );
}, 120_000);

it(
  'services that start before PostgreSQL and Redis wait for them, and serve within seconds of their start',
  async () => {
    const services = Object.values(stack.services);
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all([servers.postgres.stop(), servers.redis.stop()]);
    let started = 0;
    const starting = services.map(async (service) => {
      await service.start();
      started += 1;
    });
    // The gateway needs neither PostgreSQL nor Redis, so it starts immediately.
    await until(() => started >= 1, { limitMs: 30_000, everyMs: 100 });
    // startStack waits at most 30 s for a service to be ready.
    // wall clock: the others wait as long as the outage lasts.
    await sleep(Math.min(outageMs, 15_000) || 2_000);
    expect(started).toBe(1);
    await Promise.all([servers.restartPostgres(), servers.restartRedis()]);
    await Promise.all(starting);
    await until(
      async () => (await list()).status === 200 && (await chat()).status === 200,
      recovered,
    );
    expect(await pay()).toBe(200);
    await until(async () => (await credited()) === orders, recovered);
  },
  120_000 + outageMs,
);
