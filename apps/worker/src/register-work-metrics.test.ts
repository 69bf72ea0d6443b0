import { type Db, createDb } from '@parley/db';
import {
  type RedisConnection,
  closeRedis,
  connectRedis,
  createQueues,
  waitForRedis,
} from '@parley/redis';
import { createMetrics, silentLogger } from '@parley/service';
import { createTestRedis, openTestDatabase, seedOrganization } from '@parley/testing';
import { registerWorkMetrics } from './register-work-metrics';

let db: Db;
let redis: RedisConnection;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  redis = connectRedis({ url: (await createTestRedis()).url, role: 'producer' });
  await waitForRedis(redis, 10_000);
});
afterAll(async () => {
  await db?.close();
  await closeRedis(redis);
});

const readAll = async (metrics: ReturnType<typeof createMetrics>) =>
  (await metrics.registry.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));

it('reports the waiting work in Redis and in PostgreSQL, and leaves out what cannot be read', async () => {
  const queues = createQueues({ redis });
  const metrics = createMetrics('worker');
  registerWorkMetrics({ db, queues, metrics, log: silentLogger() });
  await queues.enqueue('reindex-entity-type', { typeId: 'type_1' });
  await queues.enqueue('reindex-entity-type', { typeId: 'type_2' }, { delayMs: 60_000 });
  await db.pool.query(
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, received_at)
     values ('d1', 'kapso', '1', '/', '{}', '', now() - interval '90 seconds'), ('d2', 'kapso', '2', '/', '{}', '', now())`,
  );
  const lines = await readAll(metrics);
  expect(lines).toContain(
    'queue_jobs{queue="reindex-entity-type",state="waiting",service="worker"} 1',
  );
  expect(lines).toContain(
    'queue_jobs{queue="reindex-entity-type",state="delayed",service="worker"} 1',
  );
  expect(
    lines.some((line) =>
      line.startsWith('queue_oldest_job_age_seconds{queue="reindex-entity-type"'),
    ),
  ).toBe(true);
  expect(lines).toContain('webhook_deliveries_waiting{provider="kapso",service="worker"} 2');
  const lag = lines.find((line) => line.startsWith('webhook_delivery_lag_seconds'))!;
  expect(Number(lag.split(' ')[1])).toBeGreaterThanOrEqual(90);
  for (const idle of ['trigger_runs', 'messages', 'executions'])
    expect(lines).toContain(`${idle}_waiting{service="worker"} 0`);

  const alone = createMetrics('worker');
  const unreachable = { ...queues, depths: () => Promise.reject(new Error('Redis is down')) };
  registerWorkMetrics({ db, queues: unreachable, metrics: alone, log: silentLogger() });
  const rest = await readAll(alone);
  expect(rest.some((line) => line.startsWith('queue_jobs'))).toBe(false);
  expect(rest.some((line) => line.startsWith('webhook_deliveries_waiting'))).toBe(true);
  await queues.close();
});

it('the lag of each kind of work grows while no worker begins it, and is 0 afterwards', async () => {
  const queues = createQueues({ redis });
  const { scope } = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  const values = [scope.tenant, '90 seconds'];
  const lagOf = async (metric: string) => {
    const metrics = createMetrics('worker');
    registerWorkMetrics({ db, queues, metrics, log: silentLogger() });
    const lines = (await readAll(metrics)).filter((line) => line.startsWith(`${metric}{`));
    return Math.max(0, ...lines.map((line) => Number(line.split(' ')[1])));
  };
  const work = [
    {
      metric: 'trigger_run_lag_seconds',
      add: `insert into trigger_runs (tenant, environment, id, trigger_slug, cause, status, run_at, context)
            values ($1, 'development', 'run', 'a', 'event', 'scheduled', now() - $2::interval, '{}')`,
      begin: `update trigger_runs set status = 'running' where tenant = $1`,
    },
    {
      metric: 'message_lag_seconds',
      add: `insert into messages (tenant, environment, id, connection_id, contact, direction, type, status, created_at, updated_at, payload)
            values ($1, 'development', 'message', 'connection', '1', 'inbound', 'text', 'received', now() - $2::interval, now(), '{}')`,
      begin: `update messages set status = 'answering' where tenant = $1`,
    },
    {
      metric: 'execution_lag_seconds',
      add: `insert into executions (tenant, environment, thread_id, agent_slug, status, input, background, created_at)
            values ($1, 'development', 'thread', 'helper', 'queued', 'Hello', '{}', now() - $2::interval)`,
      begin: `update executions set status = 'running' where tenant = $1`,
    },
  ];
  await db.pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, updated_at) values ('thread', $1, 'development', 'x', 'api', now())`,
    [scope.tenant],
  );
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ('connection', $1, 'development', '1', 'connected', now())`,
    [scope.tenant],
  );
  for (const { metric, add, begin } of work) {
    expect([metric, await lagOf(metric)]).toEqual([metric, 0]);
    await db.pool.query(add, values);
    expect(await lagOf(metric)).toBeGreaterThanOrEqual(90);
    await db.pool.query(begin, [scope.tenant]);
    expect([metric, await lagOf(metric)]).toEqual([metric, 0]);
  }
  await queues.close();
});
