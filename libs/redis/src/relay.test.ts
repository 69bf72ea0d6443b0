import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningServer, makeTemporaryFolder, startRedis } from '@parley/embedded';
import { until } from '@parley/testing';
import { type RedisConnection, closeRedis, connectRedis, waitForRedis } from './connect-redis';
import { createRelay, createRelayWaker } from './relay';

const limits = { limitMs: 10_000, everyMs: 5 };

// A separate server: messages on a channel reach all logical databases of a server.
let server: RunningServer;
let folder: string;
let producer: RedisConnection;
let worker: RedisConnection;
beforeAll(async () => {
  folder = makeTemporaryFolder('relay');
  server = await startRedis({ dataDir: folder });
  producer = connectRedis({ url: server.url, role: 'producer' });
  worker = connectRedis({ url: server.url, role: 'worker' });
  await waitForRedis(producer, 5_000);
});
afterAll(async () => {
  await closeRedis(producer);
  await closeRedis(worker);
  await server.stop();
});

const subscribers = async () =>
  ((await producer.pubsub('NUMSUB', 'parley:relay')) as [string, number])[1];

/** Starts a relay that polls only once a minute and counts its polls. */
async function start() {
  const counts = { polls: 0 };
  const work = async () => {
    counts.polls += 1;
    return 60_000;
  };
  const relay = createRelay(worker, work, (error) => {
    throw error;
  });
  await until(async () => (await subscribers()) > 0 && counts.polls === 1, limits);
  return { relay, counts };
}

test('a call wakes the relay immediately; many calls wake it at most every 5 ms, and once after the last call', async () => {
  const { relay, counts } = await start();
  const wakeRelay = createRelayWaker(producer);
  const startedAt = performance.now();
  wakeRelay();
  await until(() => counts.polls === 2, limits);
  let lastPolls = 0;
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 50; n += 1) wakeRelay();
    lastPolls = counts.polls;
    // wall clock: the pace of the calls.
    await sleep(1);
  }
  await until(() => counts.polls > lastPolls, limits);
  // wall clock: nothing shows that no further wake comes.
  await sleep(20);
  expect(counts.polls - 1).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 5);
  await relay.close();
  await until(async () => (await subscribers()) === 0, limits);
});

test('a call while Redis is unavailable has no effect, and later calls wake the relay again', async () => {
  const { relay, counts } = await start();
  const wakeRelay = createRelayWaker(producer);
  const { port } = server;
  await server.stop();
  for (let n = 0; n < 10; n += 1) {
    wakeRelay();
    // wall clock: a pace that is slower than one wake.
    await sleep(6);
  }
  expect(counts.polls).toBe(1);
  server = await startRedis({ dataDir: folder, port });
  await waitForRedis(producer, 5_000);
  await until(async () => (await subscribers()) > 0, limits);
  wakeRelay();
  await until(() => counts.polls === 2, limits);
  await relay.close();
});
