import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { catalog } from './catalog';
import { push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

/**
 * What processes hold at most: the table of docs/operations.md, which
 * tools/deploy/capacity.test.mjs compares with the manifests.
 */
const page = readFileSync(join(__dirname, '../../../docs/operations.md'), 'utf8');
const capacity = page
  .slice(page.indexOf('| process | connections to PostgreSQL |'))
  .split('\n\n')[0]!;
const holdings = [
  ...capacity.matchAll(/^\| ([\w-]+) \| (\d+) \| \d+ \| (\d+) \| \d+ \| \d+ \|$/gm),
].map(([, name, postgres, redis]) => ({ name, postgres: Number(postgres), redis: Number(redis) }));

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
beforeAll(async () => {
  stack = await startOwnStack({
    environment: { RATE_LIMIT_PER_KEY: '10000', RATE_LIMIT_PER_ORGANIZATION: '10000' },
  });
  tenant = await createTenant(stack);
}, 120_000);
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
}, 60_000);

it('processes hold no more connections to PostgreSQL and Redis than the operations guide states', async () => {
  const client = await tenant.client({ permissions: ['*', 'manage'] });
  await push(client, catalog);
  // More requests at the same time than a process has connections.
  const requests = Array.from({ length: 60 }, (_, at) => [
    // Creates of a burst share a connection.
    client.post('/v1/data/order', { data: { number: `o-${at}` } }),
    client.get('/v1/data/order'),
    client.post('/v1/agents/assistant/chat', { message: 'Hello' }),
    client.get('/v1/executions'),
  ]);
  await Promise.all(requests.flat());

  const open = await tenant.query(
    `select application_name as name, count(*)::int as postgres from pg_stat_activity
     where datname = current_database() and application_name like 'parley-%' group by 1`,
  );
  const redis = connectRedis({ url: stack.redisUrl, role: 'producer', name: 'counter' });
  await waitForRedis(redis, 10_000);
  const database = `db=${new URL(stack.redisUrl).pathname.slice(1)} `;
  const clients = String(await redis.client('LIST')).split('\n');
  await closeRedis(redis);
  const redisConnections = clients.filter(
    (line) => line.includes(database) && !line.includes('name=counter '),
  ).length;

  for (const { name, postgres } of holdings) {
    const found = Number(open.find((one) => one.name === `parley-${name}`)?.postgres ?? 0);
    expect({ name, postgres: Math.max(found, postgres) }).toEqual({ name, postgres });
  }
  expect(open.find(({ name }) => name === 'parley-data')?.postgres).toBeGreaterThan(2);
  const services = holdings.filter(({ name }) => name !== 'cli');
  expect(redisConnections).toBe(services.reduce((sum, one) => sum + one.redis, 0));
});
