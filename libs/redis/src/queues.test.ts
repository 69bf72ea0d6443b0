import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@parley/embedded';
import { type TestRedis, createTestRedis, until } from '@parley/testing';
import { type JobName, jobNames } from './job-catalog';
import { type JobHandlers, type JobOutcome, consume } from './consume';
import { QueueUnavailable, type Queues, createQueues } from './queues';
import { openRedis } from './open-redis';
import { type RedisSettings, closeRedis, connectRedis, waitForRedis } from './connect-redis';

/** Far longer than an answer takes on a busy machine. */
const answerMs = 50_000;
const often = { everyMs: 20 };

let server: TestRedis;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  server = await createTestRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function connect(role: RedisSettings['role'], url = server.url) {
  const timeouts = role === 'producer' ? { commandTimeout: answerMs, socketTimeout: answerMs } : {};
  const redis = connectRedis({ url, role, timeouts });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, answerMs);
  return redis;
}

async function createSender() {
  const queues = createQueues({ redis: await connect('producer'), deadlineMs: answerMs });
  closing.push(() => queues.close());
  return queues;
}

async function waitingJobs(queues: Queues, name: JobName): Promise<number | undefined> {
  return (await queues.depths()).find((depth) => depth.name === name)?.states.waiting;
}

test('the id of an execution may be an integer that a number has exactly', async () => {
  const queues = await createSender();
  await queues.enqueue(
    'run-execution',
    { tenant: 1, executionId: '3765463593565291000' },
    { requestId: 'r' },
  );
});

const outcomes: JobOutcome[] = [];
async function startWorker(handlers: Partial<JobHandlers>) {
  outcomes.length = 0;
  const idle = async () => {};
  const consumer = consume({
    redis: await connect('worker'),
    handlers: {
      ...(Object.fromEntries(jobNames.map((name) => [name, idle])) as unknown as JobHandlers),
      ...handlers,
    },
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
  expect(await waitingJobs(queues, 'answer-conversation')).toBe(2);
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
  await until(() => outcomes.length === 1, often);
  expect(seen).toEqual([{ given: payload, requestId: 'r1', attempt: 1, isLastAttempt: false }]);
  expect(outcomes[0]).toMatchObject({
    name: 'reindex-entity-type',
    status: 'done',
    requestId: 'r1',
  });
  const redis = await connect('producer');
  await until(
    async () =>
      (await redis.keys('{parley-reindex-entity-type}:reindex-entity-type:type_1')).length === 0,
    often,
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
  await until(() => outcomes.length === 2, often);
  expect(outcomes.map(({ status, attempt }) => [status, attempt])).toEqual([
    ['retry', 1],
    ['done', 2],
  ]);
  await queues.enqueue('reindex-entity-type', {} as never);
  await until(() => outcomes.length === 3, often);
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
  await until(() => started === 1, often);
  await first.close();
  expect(outcomes.map(({ status }) => status)).toContain('interrupted');
  expect(outcomes.every(({ status }) => status === 'interrupted')).toBe(true);
  // The worker has returned the job, so the next one need not wait until its lock has expired.
  expect(await waitingJobs(queues, 'reindex-entity-type')).toBe(1);

  await startWorker({});
  await until(() => outcomes.length === 1, often);
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
  const victim = spawn(process.execPath, [bundle, server.url], {
    env: { ...process.env, NODE_PATH: modules },
  });
  closing.push(() => victim.kill('SIGKILL'));
  let printed = '';
  victim.stdout.on('data', (chunk) => (printed += chunk));
  victim.stderr.on('data', (chunk) => (printed += chunk));
  const queues = await createSender();
  await queues.enqueue('reindex-entity-type', payload);
  await until(() => printed !== '', { limitMs: 180_000 });
  expect(printed.trim()).toBe('running');
  await startWorker({});
  const redis = await connect('producer');
  let leftMs = Infinity;
  const isRenewed = async () => {
    const beforeMs = leftMs;
    leftMs = await redis.pttl('{parley-reindex-entity-type}:reindex-entity-type:type_1:lock');
    return leftMs > beforeMs;
  };
  await until(isRenewed, often);
  expect(outcomes).toEqual([]);
  victim.kill('SIGKILL');
  // By default BullMQ would need half a minute.
  await until(() => outcomes.length === 1, { ...often, limitMs: 25_000 });
}, 240_000);

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
  await until(() => outcomes.some(({ name }) => name === 'sweep-idempotency'), often);
});

describe('while Redis is unavailable', () => {
  test('by default sending fails after two seconds, even when Redis is silent, and works again afterwards', async () => {
    const server = await startRedis({ ephemeral: true });
    closing.push(() => server.stop());
    const redis = connectRedis({ url: server.url, role: 'producer' });
    closing.push(() => closeRedis(redis));
    const queues = createQueues({ redis });
    closing.push(() => queues.close());
    const isSent = () =>
      queues.enqueue('reindex-entity-type', payload).then(
        () => true,
        () => false,
      );
    await until(isSent, often);
    process.kill(server.pid, 'SIGSTOP');
    let startedAt = Date.now();
    await expect(queues.enqueue('reindex-entity-type', payload)).rejects.toThrow(QueueUnavailable);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    process.kill(server.pid, 'SIGCONT');
    await until(isSent, often);

    process.kill(server.pid, 'SIGKILL');
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
    const opened = await openRedis(
      { REDIS_URL: own.url, NODE_ENV },
      { name: 'parley-test', roles: ['worker'], log },
    );
    let names: string[] = [];
    await until(async () => {
      names = String(await redis.client('LIST')).match(/name=parley-test-\S+/g) ?? [];
      return names.length === 2;
    }, often);
    await opened.close();
    return names.sort();
  };
  expect(await open('production')).toEqual([
    'name=parley-test-producer',
    'name=parley-test-worker',
  ]);
  expect(warnings).toEqual([]);
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await expect(open('production')).rejects.toThrow(
    /maxmemory-policy allkeys-lru.*CONFIG SET maxmemory-policy noeviction/,
  );
  await until(async () => !String(await redis.client('LIST')).includes('parley-test-'), often);
  await open('development');
  expect(warnings).toEqual([expect.stringContaining('allkeys-lru')]);
  process.kill(own.pid, 'SIGKILL');
  await until(() => redis.status !== 'ready', often);
  const away = await openRedis(
    { REDIS_URL: own.url, NODE_ENV: 'production' },
    { name: 'parley-test', log },
  );
  closing.push(() => away.close());
  expect(warnings).toContainEqual(expect.stringContaining('Redis could not be checked'));
});
