import type { Scope } from '@parley/contracts';
import { type Db, createDb, createIdempotencyStore, newId } from '@parley/db';
import { type Entities, staleTypes } from '@parley/entities';
import {
  type Queues,
  type RedisConnection,
  closeRedis,
  connectRedis,
  createQueues,
  waitForRedis,
} from '@parley/redis';
import { createMetrics, loadConfig, silentLogger } from '@parley/service';
import {
  type TestRedis,
  createTestRedis,
  openTestDatabase,
  seedOrganization,
  until,
} from '@parley/testing';
import { retentionDays, workerVariables } from './config';
import { type JobRuntime, createJobRuntime } from './job-runtime';
import { createWorker } from './worker';

const limits = { limitMs: 15_000 };

let db: Db & { url: string };
let runtime: JobRuntime;
let kept: ReturnType<typeof retentionDays>;
let entities: Entities;
let redis: TestRedis;
let queues: Queues;
let producer: RedisConnection;
const closing: (() => Promise<unknown>)[] = [];
let scope: Scope;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ scope } = await seedOrganization(db.pool));
  redis = await createTestRedis();
  const config = loadConfig(workerVariables, {
    DATABASE_URL: db.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  kept = retentionDays(config);
  runtime = createJobRuntime({ config, db, log: silentLogger(), metrics: createMetrics('worker') });
  entities = runtime.entities;
  producer = connectRedis({ url: redis.url, role: 'producer' });
  await waitForRedis(producer, 5_000);
  queues = createQueues({ redis: producer });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  // Otherwise the next worker finds its sweep already scheduled, minutes ahead.
  await redis.flush();
});
afterAll(async () => {
  await queues.close();
  await closeRedis(producer);
  for (const { close } of runtime.closing) await close();
  await db.close();
});

async function startWorker() {
  const connection = connectRedis({ url: redis.url, role: 'worker' });
  const worker = createWorker({
    ...runtime,
    db,
    queues,
    redis: connection,
    log: silentLogger(),
    ...kept,
  });
  closing.push(
    () => closeRedis(connection),
    () => worker.close(),
  );
  return worker;
}

async function createType(slug: string, searchFields: string[]): Promise<string> {
  const id = newId('type');
  await db.pool.query(
    `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, updated_at)
     values ($1, $2, $3::"Environment", $4, $4, '{}', $5, now())`,
    [id, scope.tenant, scope.environment, slug, searchFields],
  );
  return id;
}

const search = async (type: string, query: string) => {
  const found = await entities.search(scope, { type, query, limit: 100 });
  if (!found.ok) throw new Error(found.reason);
  return found.list.entities.length;
};

const nothingStale = async () => (await staleTypes(db)).length === 0;

test('after searchFields have changed, existing entities are found by the new fields', async () => {
  const typeId = await createType('order', ['title']);
  for (let at = 0; at < 30; at += 1) {
    const data = { title: `bicycle ${at}`, note: `remark ${at}` };
    await entities.create(scope, { type: 'order', data, actor: { type: 'system' } });
  }
  await startWorker();
  await queues.enqueue('reindex-entity-type', { typeId });
  await until(nothingStale, limits);
  await db.pool.query("update entity_types set search_fields = '{note}' where id = $1", [typeId]);
  expect(await search('order', 'bicycle')).toBe(30);
  await queues.enqueue('sweep-reindexing', {}, { requestId: 'r' });
  await until(nothingStale, limits);
  expect(await search('order', 'remark')).toBe(30);
  expect(await search('order', 'bicycle')).toBe(0);
});

test('the sweep finds a type to reindex that has no job, even after Redis has lost the schedule', async () => {
  await createType('forgotten', ['title']);
  await producer.flushdb();
  await startWorker();
  await until(nothingStale, limits);
});

test('when a worker is stopped in the middle of a job, another worker finishes it', async () => {
  const typeId = await createType('large', []);
  for (let at = 0; at < 5; at += 1) {
    await Promise.all(
      Array.from({ length: 300 }, () =>
        entities.create(scope, {
          type: 'large',
          data: { word: 'kept' },
          actor: { type: 'system' },
        }),
      ),
    );
  }
  await db.pool.query("update entity_types set search_fields = '{word}' where id = $1", [typeId]);
  const first = await startWorker();
  await queues.enqueue('reindex-entity-type', { typeId });
  await until(async () => {
    const { rows } = await db.pool.query('select reindex from entity_types where id = $1', [
      typeId,
    ]);
    return rows[0].reindex !== null || (await nothingStale());
  }, limits);
  await first.close();
  await startWorker();
  await until(nothingStale, limits);
  const { rows } = await db.pool.query(
    `select count(*)::int from entities e join entity_types t on t.no = e.part
     where t.id = $1 and e.search::text like '%kept%'`,
    [typeId],
  );
  expect(rows[0].count).toBe(1500);
}, 60_000);

test('responses stored under an Idempotency-Key are deleted after a day', async () => {
  const store = createIdempotencyStore(db);
  const operation = {
    tenant: 1,
    callerId: 'k',
    operation: 'POST /',
    key: 'a',
    requestHash: Buffer.from('x'),
  };
  for (const key of ['old', 'new']) await store.begin({ ...operation, key });
  await db.pool.query(
    "update idempotency_records set expires_at = now() - interval '1 s' where key = 'old'",
  );
  await startWorker();
  await queues.enqueue('sweep-idempotency', {});
  await until(
    async () => (await db.pool.query('select key from idempotency_records')).rowCount === 1,
    limits,
  );
});
