import { type Db, createDb } from '@parley/db';
import { type RedisConnection, closeRedis, connectRedis, createQueues, waitForRedis } from '@parley/redis';
import { createMetrics, silentLogger } from '@parley/service';
import { createTestRedis, openTestDatabase } from '@parley/testing';
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
  (await metrics.registry.metrics()).split('\n').filter((line) => /^(queue|webhook|trigger)_/.test(line));

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
  expect(lines).toContain('queue_jobs{queue="reindex-entity-type",state="waiting",service="worker"} 1');
  expect(lines).toContain('queue_jobs{queue="reindex-entity-type",state="delayed",service="worker"} 1');
  expect(lines.some((line) => line.startsWith('queue_oldest_job_age_seconds{queue="reindex-entity-type"'))).toBe(true);
  expect(lines).toContain('webhook_deliveries_waiting{provider="kapso",service="worker"} 2');
  const lag = lines.find((line) => line.startsWith('webhook_delivery_lag_seconds'))!;
  expect(Number(lag.split(' ')[1])).toBeGreaterThanOrEqual(90);
  expect(lines).toContain('trigger_runs_waiting{service="worker"} 0');

  const alone = createMetrics('worker');
  const unreachable = { ...queues, depths: () => Promise.reject(new Error('Redis is down')) };
  registerWorkMetrics({ db, queues: unreachable, metrics: alone, log: silentLogger() });
  const rest = await readAll(alone);
  expect(rest.some((line) => line.startsWith('queue_jobs'))).toBe(false);
  expect(rest.some((line) => line.startsWith('webhook_deliveries_waiting'))).toBe(true);
  await queues.close();
});
