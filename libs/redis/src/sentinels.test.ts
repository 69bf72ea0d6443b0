import { type Sentinels, startSentinels, until } from '@parley/testing';
import { enqueueEveryJob, handlersOf } from '../testing/every-job';
import {
  type RedisSettings,
  checkWrites,
  closeRedis,
  connectRedis,
  waitForRedis,
} from './connect-redis';
import { consume } from './consume';
import { createExecutionBells, createExecutionChunks } from './execution-chunks';
import { type JobName, jobNames } from './job-catalog';
import { createQueues } from './queues';
import { createRateLimiter } from './rate-limit';
import { createRelay, createRelayWaker } from './relay';

const limits = { limitMs: 30_000, everyMs: 20 };

let sentinels: Sentinels;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(passwords: Parameters<typeof startSentinels>[0] = {}): Promise<void> {
  sentinels = await startSentinels(passwords);
  closing.push(() => sentinels.stop());
}

async function connect(role: RedisSettings['role']) {
  const redis = connectRedis({ url: sentinels.url, role });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, 10_000);
  return redis;
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

test.each([
  ['has been killed', 'SIGKILL'],
  ['is silent', 'SIGSTOP'],
] as const)(
  'jobs, limits, streams and the relay continue on the replica when the primary %s',
  async (_state, signal) => {
    await start({ password: 'of-the-servers', sentinelPassword: 'of-the-sentinels' });
    const [producer, limiter, worker] = [
      await connect('producer'),
      await connect('limiter'),
      await connect('worker'),
    ];
    const queues = createQueues({ redis: producer });
    closing.push(() => queues.close());
    const seen = new Set<JobName>();
    const consumer = consume({ redis: worker, handlers: handlersOf((name) => seen.add(name)) });
    closing.push(() => consumer.close());
    const admission = createRateLimiter({
      redis: limiter,
      limits: { perKey: 99 },
      onSkip: () => (skipped += 1),
    });
    closing.push(() => admission.close());
    let skipped = 0;
    const isCounted = async () => {
      const before = skipped;
      return (await admission.admit({ id: 'k', organizationId: 'o' })) === 0 && skipped === before;
    };
    let woken = 0;
    const relay = createRelay(
      worker,
      async () => {
        woken += 1;
        return 60_000;
      },
      () => {},
    );
    closing.push(() => relay.close());
    const wakeRelay = createRelayWaker(producer);
    const chunks = createExecutionChunks(producer);
    const bells = createExecutionBells(worker);
    closing.push(() => bells.close());
    let rung = 0;
    bells.listen('execution', () => (rung += 1));

    async function everything() {
      seen.clear();
      await until(() => succeeds(enqueueEveryJob(queues)), limits);
      await until(() => seen.size === jobNames.length, limits);
      await until(isCounted, limits);
      for (const [reach, act] of [
        [() => woken, wakeRelay],
        [() => rung, () => chunks.ring('execution')],
      ] as const) {
        const before = reach();
        await until(() => {
          act();
          return reach() > before;
        }, limits);
      }
      await checkWrites(producer);
    }
    await everything();
    const [{ pid }] = sentinels.servers;
    process.kill(pid, signal);
    if (signal === 'SIGSTOP') closing.push(() => process.kill(pid, 'SIGKILL'));
    const killedAtMs = performance.now();
    await until(() => succeeds(checkWrites(producer)), limits);
    const writableMs = performance.now() - killedAtMs;
    expect(writableMs).toBeLessThan(30_000);
    await everything();
    console.info(
      `${signal}: writes after ${writableMs | 0} ms, everything after ${(performance.now() - killedAtMs) | 0} ms`,
    );
  },
  90_000,
);

test('subscriptions continue when the failover is announced while they ask a sentinel for the primary', async () => {
  await start();
  let woken = 0;
  const relay = createRelay(
    await connect('worker'),
    async () => {
      woken += 1;
      return 60_000;
    },
    () => {},
  );
  closing.push(() => relay.close());
  const producer = await connect('producer');
  const wakeRelay = createRelayWaker(producer);
  const wakes = async () => {
    const before = woken;
    await until(() => {
      wakeRelay();
      return woken > before;
    }, limits);
  };
  await wakes();
  // A sentinel that is stopped is asked first. The question ends after a second, and the others
  // announce the failover meanwhile.
  const [asked] = sentinels.sentinelPids;
  process.kill(asked!, 'SIGSTOP');
  closing.push(() => process.kill(asked!, 'SIGCONT'));
  process.kill(sentinels.servers[0].pid, 'SIGKILL');
  await until(() => succeeds(checkWrites(producer)), limits);
  await wakes();
}, 90_000);

test('a wrong password of the sentinels is reported, and a worker closes without them', async () => {
  await start({ sentinelPassword: 'of-the-sentinels' });
  const errors: string[] = [];
  const url = sentinels.url.replace(/sentinelPassword=.*/, 'sentinelPassword=wrong');
  const redis = connectRedis({
    url,
    role: 'producer',
    onError: ({ message }) => errors.push(message),
  });
  await until(() => errors.length > 0, limits);
  expect(errors[0]).toMatch(/All sentinels are unreachable.*WRONGPASS/);
  const worker = connectRedis({ url, role: 'worker' });
  const consumer = consume({ redis: worker, handlers: handlersOf(() => {}) });
  await consumer.close();
  for (const connection of [worker, redis]) await closeRedis(connection);
});
