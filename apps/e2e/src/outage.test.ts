import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Stack, startStack, until } from '@parley/testing';
import { startPostgres, startRedis } from '@parley/embedded';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { orderPaid } from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/** How long the servers stay away: 30,000 in the full run. */
const outageMs = Number(process.env.PARLEY_E2E_OUTAGE_MS ?? 0);
/** The five seconds that are promised hold on a machine that does nothing else, as in the full run. */
const recovered = { limitMs: outageMs > 0 ? 5_000 : 30_000, everyMs: 100 };

/** Servers of this file's own, as it takes them away. */
const folder = mkdtempSync(join(tmpdir(), 'parley-outage-'));
type Running = Awaited<ReturnType<typeof startRedis>>;
let postgres: Running;
let redis: Running;
let stack: Stack;
let tenant: Tenant;
let client: Client;
let key: string;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: join(folder, 'postgres') }),
    startRedis({ dataDir: join(folder, 'redis') }),
  ]);
  await promisify(execFile)(process.execPath, [join(shared.bundles, 'cli', 'main.cjs'), 'migrate'], {
    env: { PATH: process.env.PATH, DATABASE_URL: postgres.url },
  });
  stack = await startStack({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    bundles: shared.bundles,
    environment: shared.webhookSecrets,
  });
  tenant = await createTenant({ url: stack.url, databaseUrl: postgres.url });
  const made = await tenant.client();
  ({ key } = made);
  client = made;
  await push(client, catalog);
}, 60_000);
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const list = () => client.get('/v1/data/product');
const chat = () => client.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hi' });
let orders = 0;
/** A payment of a dollar at the billing platform; whether it was taken down. */
async function pay(): Promise<number> {
  const { path, body, headers } = orderPaid(tenant.organizationId, `order-${(orders += 1)}`, 100);
  return (await createClient(stack.url).send('POST', path, body, headers())).status;
}
const credited = async (): Promise<number> => {
  const [row] = await tenant.query('select count(*)::int as count from credit_entries where tenant = $1', [
    tenant.scope.tenant,
  ]);
  return row!.count as number;
};
const startPostgresAgain = async () =>
  (postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: postgres.port }));
const startRedisAgain = async () => (redis = await startRedis({ dataDir: join(folder, 'redis'), port: redis.port }));

it(
  'without Redis everything that does not need it goes on',
  async () => {
    await redis.stop();
    expect((await list()).status).toBe(200);
    expect((await client.post('/v1/data/product', { data: {} })).status).toBe(201);
    expect((await chat()).status).toBe(200);
    expect(await pay()).toBe(200);
    await sleep(outageMs);
    await startRedisAgain();
    expect((await list()).status).toBe(200);
    // What was taken down meanwhile has no job yet, and waits for a sweep; what comes soon after goes straight through.
    const before = await credited();
    await until(async () => {
      expect(await pay()).toBe(200);
      await sleep(400);
      return (await credited()) > before;
    }, recovered);
    await until(async () => (await credited()) === orders, { limitMs: 30_000, everyMs: 100 });
  },
  120_000 + outageMs,
);

it(
  'without PostgreSQL requests are 503 with Retry-After, and fine again within seconds of its return',
  async () => {
    await postgres.stop();
    for (const call of [list, chat]) {
      const answer = await call();
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.body).toMatchObject({ error: 'Service temporarily unavailable', code: 'unavailable' });
    }
    expect(await pay()).toBe(503);
    orders -= 1; // the provider sends it again
    expect((await createClient(stack.url).get('/health')).status).toBe(200);
    // The processes live on and say that they are not ready.
    expect((await fetch(`${stack.services.data!.internalUrl}/livez`)).status).toBe(200);
    expect((await fetch(`${stack.services.data!.internalUrl}/readyz`)).status).toBe(503);

    await sleep(outageMs);
    await startPostgresAgain();
    await until(async () => (await list()).status === 200 && (await chat()).status === 200, recovered);
    expect(await pay()).toBe(200);
    await until(async () => (await credited()) === orders, recovered);
    expect((await createClient(stack.url, key).get('/v1/entity-types')).body.data).toHaveLength(2);
  },
  120_000 + outageMs,
);

it(
  'services that start before PostgreSQL and Redis wait for them, and work within seconds of their coming',
  async () => {
    const services = Object.values(stack.services);
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all([postgres.stop(), redis.stop()]);
    let started = 0;
    const starting = services.map(async (service) => {
      await service.start();
      started += 1;
    });
    // Those that need neither are there at once.
    await until(() => started >= 2, { limitMs: 30_000, everyMs: 100 });
    await sleep(Math.min(outageMs, 15_000) || 2_000); // a service of the suite is given 30 s to be ready
    expect(started).toBe(2);
    await Promise.all([startPostgresAgain(), startRedisAgain()]);
    await Promise.all(starting);
    await until(async () => (await list()).status === 200 && (await chat()).status === 200, recovered);
    expect(await pay()).toBe(200);
    await until(async () => (await credited()) === orders, recovered);
  },
  120_000 + outageMs,
);
