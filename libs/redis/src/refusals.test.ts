import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@parley/embedded';
import { startTcpProxy, until } from '@parley/testing';
import {
  type RedisSettings,
  checkWrites,
  closeRedis,
  connectRedis,
  waitForRedis,
} from './connect-redis';
import { type JobHandlers, consume } from './consume';
import { jobNames } from './job-catalog';
import { createQueues } from './queues';
import { reportRarely } from './report-rarely';

const limits = { limitMs: 40_000, everyMs: 20 };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startServer() {
  const server = await startRedis({ ephemeral: true });
  closing.push(() => server.stop());
  return server;
}

async function connect(role: RedisSettings['role'], url: string) {
  const redis = connectRedis({ url, role });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, 5_000);
  return redis;
}

async function createSender(url: string) {
  const queues = createQueues({ redis: await connect('producer', url) });
  closing.push(() => queues.close());
  return queues;
}

const payloadOf = (deliveryId: string) => ({ deliveries: [{ id: deliveryId }] });

/** Runs all jobs of a server. `reports` are the calls of `onError`. */
async function startWorker(url: string, handle: JobHandlers['sync-identity'] = async () => {}) {
  const seen = new Set<string>();
  const reports: { message: string; count: number }[] = [];
  const redis = await connect('worker', url);
  const consumer = consume({
    redis,
    handlers: {
      ...(Object.fromEntries(
        jobNames.map((name) => [name, async () => {}]),
      ) as unknown as JobHandlers),
      'sync-identity': async (payload, context) => {
        seen.add(payload.deliveries[0]!.id);
        await handle(payload, context);
      },
    },
    onError: ({ message }, count) => reports.push({ message, count }),
  });
  closing.push(() => consumer.close());
  return { seen, reports, consumer, redis };
}

test('while the memory of Redis is full a worker asks seldom and reports seldom, and then runs every job', async () => {
  const server = await startServer();
  const admin = await connect('limiter', server.url);
  const queues = await createSender(server.url);
  const deliveries = Array.from({ length: 200 }, (_one, at) => ({
    payload: payloadOf(`delivery-${at}`),
  }));
  await queues.enqueueAll('sync-identity', deliveries);
  await admin.config('SET', 'maxmemory', '1');
  const { seen, reports } = await startWorker(server.url);
  const refusals = async () =>
    Number(/errorstat_OOM:count=(\d+)/.exec(await admin.info('errorstats'))?.[1] ?? 0);
  await until(async () => (await refusals()) > 0, limits);
  // wall clock: the pauses between the attempts are the subject.
  await sleep(2_000);
  // Pauses of 0.5, 1 and 2 s, for each queue. Without them there are thousands.
  expect(await refusals()).toBeLessThan(10 * jobNames.length);
  expect(reports[0]).toEqual({ message: expect.stringContaining('OOM'), count: 1 });
  expect(reports.length).toBeLessThan(3);
  await expect(checkWrites(admin)).rejects.toThrow('OOM');
  await admin.config('SET', 'maxmemory', '0');
  await checkWrites(admin);
  await until(() => seen.size === 200, limits);
  const depths = async () =>
    (await queues.depths()).find(({ name }) => name === 'sync-identity')!.states;
  await until(async () => Object.values(await depths()).every((count) => count === 0), limits);
});

test('a connection whose server has become a replica is replaced, and leads to the new primary', async () => {
  const [first, second] = await Promise.all([startServer(), startServer()]);
  const proxy = await startTcpProxy(first.url);
  closing.push(() => proxy.cut());
  const admin = await connect('limiter', first.url);
  const { seen } = await startWorker(proxy.url);
  const queues = await createSender(proxy.url);
  await queues.enqueue('sync-identity', payloadOf('before'));
  await until(() => seen.has('before'), limits);
  await admin.replicaof('127.0.0.1', String(second.port));
  await expect(checkWrites(admin)).rejects.toThrow('READONLY');
  proxy.aim(second.url);
  const send = () =>
    queues.enqueue('sync-identity', payloadOf('after')).then(
      () => true,
      () => false,
    );
  await until(send, limits);
  await until(() => seen.has('after'), limits);
});

describe('a worker closes', () => {
  test.each(['has been killed', 'is silent', 'has never been there'])(
    'when Redis %s',
    async (state) => {
      const server = await startServer();
      if (state === 'has never been there') process.kill(server.pid, 'SIGKILL');
      const redis = connectRedis({ url: server.url, role: 'worker' });
      const handlers = Object.fromEntries(
        jobNames.map((name) => [name, async () => {}]),
      ) as unknown as JobHandlers;
      const consumer = consume({ redis, handlers });
      if (state !== 'has never been there') {
        await until(() => redis.status === 'ready', limits);
        process.kill(server.pid, state === 'is silent' ? 'SIGSTOP' : 'SIGKILL');
        if (state === 'has been killed') await until(() => redis.status !== 'ready', limits);
      }
      await consumer.close();
      await closeRedis(redis);
      if (state === 'is silent') process.kill(server.pid, 'SIGKILL');
    },
  );

  test('after its running jobs have ended, also without Redis', async () => {
    const server = await startServer();
    let hasEnded = false;
    const { consumer, seen, redis } = await startWorker(server.url, async () => {
      await until(() => redis.status !== 'ready', limits);
      // wall clock: the job takes longer than a lost connection.
      await sleep(4_000);
      hasEnded = true;
    });
    await (await createSender(server.url)).enqueue('sync-identity', payloadOf('long'));
    await until(() => seen.size === 1, limits);
    process.kill(server.pid, 'SIGKILL');
    await consumer.close();
    expect(hasEnded).toBe(true);
  });
});

test('the first error is reported at once, further ones together every 5 s', () => {
  jest.useFakeTimers();
  closing.push(() => jest.useRealTimers());
  const reports: [string, number][] = [];
  const report = reportRarely(({ message }, count) => reports.push([message, count]));
  for (const message of ['a', 'b', 'c']) report(new Error(message));
  expect(reports).toEqual([['a', 1]]);
  jest.advanceTimersByTime(5_000);
  expect(reports.splice(0)).toEqual([
    ['a', 1],
    ['c', 2],
  ]);
  jest.advanceTimersByTime(10_000);
  report(new Error('d'));
  expect(reports).toEqual([['d', 1]]);
});
