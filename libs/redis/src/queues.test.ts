import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@parley/embedded';
import { type TestRedis, createTestRedis, until } from '@parley/testing';
import { jobNames } from './job-catalog';
import { type JobHandlers, type JobOutcome, consume } from './consume';
import { QueueUnavailable, createQueues } from './queues';
import { openRedis } from './open-redis';
import { type RedisSettings, closeRedis, connectRedis, waitForRedis } from './connect-redis';

// Other work on the machine can delay one attempt. A regression fails every attempt.
jest.retryTimes(3, { logErrorsBeforeRetry: true });

const limits = { limitMs: 10_000, everyMs: 20 };

let server: TestRedis;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  server = await createTestRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function connect(role: RedisSettings['role'], url = server.url) {
  const redis = connectRedis({ url, role });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, 5_000);
  return redis;
}

async function createSender(url?: string) {
  const queues = createQueues({ redis: await connect('producer', url) });
  closing.push(() => queues.close());
  return queues;
}

test('the id of an execution may be an integer that a number has exactly', async () => {
  const queues = await createSender();
  await queues.enqueue('run-execution', { tenant: 1, executionId: '3765463593565291000' }, { requestId: 'r' });
});

const outcomes: JobOutcome[] = [];
async function startWorker(handlers: Partial<JobHandlers>) {
  outcomes.length = 0;
  const idle = async () => {};
  const consumer = consume({
    redis: await connect('worker'),
    handlers: { ...(Object.fromEntries(jobNames.map((name) => [name, idle])) as unknown as JobHandlers), ...handlers },
    onFinished: (outcome) => outcomes.push(outcome),
  });
  closing.push(() => consumer.close());
  return consumer;
}

const payload = { typeId: 'type_1' };

test('a conversation has one waiting job, even when it is sent several times', async () => {
  const queues = await createSender();
  const conversation = { tenant: 1, connectionId: 'conn_1', contact: 'US.a:b' };
  for (let at = 0; at < 3; at += 1) await queues.enqueue('answer-conversation', conversation);
  await queues.enqueue('answer-conversation', { ...conversation, contact: '15550001' });
  const depth = (await queues.depths()).find(({ name }) => name === 'answer-conversation');
  expect(depth?.states.waiting).toBe(2);
});

test('a job has its payload and the id of its request, and is removed when it is done', async () => {
  const seen: unknown[] = [];
  await startWorker({
    'reindex-entity-type': async (given, { requestId, attempt, isLastAttempt }) => {
      seen.push({ given, requestId, attempt, isLastAttempt });
    },
  });
  const queues = await createSender();
  await queues.enqueue('reindex-entity-type', payload, { requestId: 'r1' });
  await until(() => outcomes.length === 1, limits);
  expect(seen).toEqual([{ given: payload, requestId: 'r1', attempt: 1, isLastAttempt: false }]);
  expect(outcomes[0]).toMatchObject({ name: 'reindex-entity-type', status: 'done', requestId: 'r1' });
  const redis = await connect('producer');
  await until(
    async () => (await redis.keys('{parley-reindex-entity-type}:reindex-entity-type:type_1')).length === 0,
    limits,
  );
});

test('a failed job is repeated, a job with an invalid payload is not', async () => {
  await startWorker({
    'reindex-entity-type': async (_payload, { attempt }) => {
      if (attempt === 1) throw new Error('not yet');
    },
  });
  const queues = await createSender();
  await queues.enqueue('reindex-entity-type', payload);
  await until(() => outcomes.length === 2, limits);
  expect(outcomes.map(({ status, attempt }) => [status, attempt])).toEqual([
    ['retry', 1],
    ['done', 2],
  ]);
  await queues.enqueue('reindex-entity-type', {} as never);
  await until(() => outcomes.length === 3, limits);
  expect(outcomes[2]).toMatchObject({ status: 'failed', attempt: 1 });
});

test('after a shutdown another worker runs the interrupted jobs, and the attempt is not counted', async () => {
  let started = 0;
  const first = await startWorker({
    'reindex-entity-type': async (_payload, { signal }) => {
      started += 1;
      await sleep(30_000, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    },
  });
  const queues = await createSender();
  await queues.enqueue('reindex-entity-type', payload);
  await until(() => started === 1, limits);
  const startedAt = Date.now();
  await first.close();
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  expect(outcomes.map(({ status }) => status)).toContain('interrupted');
  expect(outcomes.every(({ status }) => status === 'interrupted')).toBe(true);

  await startWorker({});
  await until(() => outcomes.length === 1, { ...limits, limitMs: 3_000 });
  expect(outcomes).toMatchObject([{ status: 'done', attempt: 1 }]);
});

test('another worker soon runs the job of a killed worker', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const root = resolve(__dirname, '../../..');
  writeFileSync(
    join(folder, 'worker.ts'),
    `import { consume, connectRedis } from '${__dirname}/index';
     const hang = async () => { console.log('running'); await new Promise((done) => setTimeout(done, 60000)); };
     const idle = async () => {};
     consume({
       redis: connectRedis({ url: process.argv[2]!, role: 'worker' }),
       handlers: new Proxy({}, { get: (_, name) => (name === 'reindex-entity-type' ? hang : idle) }) as never,
     });`,
  );
  const bundle = join(folder, 'worker.cjs');
  const modules = join(root, 'node_modules');
  execFileSync(join(modules, '.bin/esbuild'), [
    join(folder, 'worker.ts'),
    '--bundle',
    '--platform=node',
    `--outfile=${bundle}`,
    '--log-level=error',
    '--packages=external',
    `--alias:@parley/contracts=${join(root, 'libs/contracts/src/index.ts')}`,
  ]);
  const victim = spawn(process.execPath, [bundle, server.url], { env: { ...process.env, NODE_PATH: modules } });
  closing.push(() => victim.kill('SIGKILL'));
  let printed = '';
  victim.stdout.on('data', (chunk) => (printed += chunk));
  victim.stderr.on('data', (chunk) => (printed += chunk));
  const queues = await createSender();
  await queues.enqueue('reindex-entity-type', payload);
  await until(() => printed !== '', limits);
  expect(printed.trim()).toBe('running');
  await startWorker({});
  // wall clock: nothing shows that the job is not taken over.
  await sleep(1_000);
  expect(outcomes).toEqual([]);
  victim.kill('SIGKILL');
  const killedAt = Date.now();
  await until(() => outcomes.length === 1, { ...limits, limitMs: 20_000 });
  expect(Date.now() - killedAt).toBeLessThan(10_000);
}, 60_000);

test('repeating jobs are scheduled once, and again after Redis has lost its data', async () => {
  const queues = await createSender();
  const redis = await connect('producer');
  const schedulers = () => redis.zcard('{parley-sweep-idempotency}:sweep-idempotency:repeat');
  await Promise.all([queues.schedule(), (await createSender()).schedule()]);
  await queues.schedule();
  expect(await schedulers()).toBe(1);
  await redis.flushdb();
  await queues.schedule();
  expect(await schedulers()).toBe(1);
  await startWorker({});
  await until(() => outcomes.some(({ name }) => name === 'sweep-idempotency'), limits);
});

describe('while Redis is unavailable', () => {
  test('sending fails within the deadline, even when Redis is silent, and works again afterwards', async () => {
    const redis = await startRedis({ ephemeral: true });
    closing.push(() => redis.stop());
    const queues = await createSender(redis.url);
    await queues.enqueue('reindex-entity-type', payload);
    process.kill(redis.pid, 'SIGSTOP');
    let startedAt = Date.now();
    await expect(queues.enqueue('reindex-entity-type', payload)).rejects.toThrow(QueueUnavailable);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    process.kill(redis.pid, 'SIGCONT');
    await until(
      () =>
        queues.enqueue('reindex-entity-type', payload).then(
          () => true,
          () => false,
        ),
      limits,
    );

    process.kill(redis.pid, 'SIGKILL');
    startedAt = Date.now();
    await expect(queues.enqueue('reindex-entity-type', payload)).rejects.toThrow(QueueUnavailable);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  test('sending fails when Redis has never been available', async () => {
    const redis = connectRedis({ url: 'redis://127.0.0.1:1', role: 'producer' });
    closing.push(() => closeRedis(redis));
    const queues = createQueues({ redis });
    await expect(queues.enqueue('reindex-entity-type', payload)).rejects.toThrow(QueueUnavailable);
    await expect(waitForRedis(redis, 50)).rejects.toThrow('Redis is not reachable (waited 50 ms)');
  });
});

test('a Redis that may evict jobs is an error in production and a warning otherwise, an unavailable one is a warning', async () => {
  const own = await startRedis({ ephemeral: true });
  closing.push(() => own.stop());
  const redis = await connect('producer', own.url);
  const warnings: string[] = [];
  const log = { warn: (_fields: object, text: string) => void warnings.push(text) };
  const open = async (NODE_ENV: string) => {
    const opened = await openRedis({ REDIS_URL: own.url, NODE_ENV }, { name: 'parley-test', roles: ['worker'], log });
    let names: string[] = [];
    await until(async () => {
      names = String(await redis.client('LIST')).match(/name=parley-test-\S+/g) ?? [];
      return names.length === 2;
    }, limits);
    await opened.close();
    return names.sort();
  };
  expect(await open('production')).toEqual(['name=parley-test-producer', 'name=parley-test-worker']);
  expect(warnings).toEqual([]);
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await expect(open('production')).rejects.toThrow(
    /maxmemory-policy allkeys-lru.*CONFIG SET maxmemory-policy noeviction/,
  );
  await until(async () => !String(await redis.client('LIST')).includes('parley-test-'), limits);
  await open('development');
  expect(warnings).toEqual([expect.stringContaining('allkeys-lru')]);
  process.kill(own.pid, 'SIGKILL');
  await until(() => redis.status !== 'ready', limits);
  const away = await openRedis({ REDIS_URL: own.url, NODE_ENV: 'production' }, { name: 'parley-test', log });
  closing.push(() => away.close());
  expect(warnings).toContainEqual(expect.stringContaining('Redis could not be checked'));
});
