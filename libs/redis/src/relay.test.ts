import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningServer, makeTemporaryFolder, startRedis } from '@parley/embedded';
import { until } from '@parley/testing';
import { type RedisConnection, closeRedis, connectRedis, waitForRedis } from './redis';
import { createRelay, createRing } from './relay';

const limits = { limitMs: 10_000, everyMs: 5 };

// A server of its own: rings reach every logical database of a server.
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

const subscribers = async () => ((await producer.pubsub('NUMSUB', 'parley:relay')) as [string, number])[1];

/** A relay that looks by itself only once a minute, and how often it has looked. */
async function start() {
  const counts = { looks: 0 };
  const work = async () => ((counts.looks += 1), 60_000);
  const relay = createRelay(worker, work, (error) => {
    throw error;
  });
  await until(async () => (await subscribers()) > 0 && counts.looks === 1, limits);
  return { relay, counts };
}

test('a ring wakes the relay at once; many of them wake it no more often than every 5 ms, and the last one counts', async () => {
  const { relay, counts } = await start();
  const ring = createRing(producer);
  const startedAt = performance.now();
  ring();
  await until(() => counts.looks === 2, limits);
  let lastRungAt = 0;
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 50; n += 1) ring();
    lastRungAt = counts.looks;
    await sleep(1);
  }
  await until(() => counts.looks > lastRungAt, limits);
  await sleep(20);
  expect(counts.looks - 1).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 5);
  await relay.close();
  await until(async () => (await subscribers()) === 0, limits);
});

test('while Redis is away a ring is lost and says nothing; afterwards it wakes the relay again', async () => {
  const { relay, counts } = await start();
  const ring = createRing(producer);
  const { port } = server;
  await server.stop();
  for (let n = 0; n < 10; n += 1) {
    ring();
    await sleep(6);
  }
  expect(counts.looks).toBe(1);
  server = await startRedis({ dataDir: folder, port });
  await waitForRedis(producer, 5_000);
  await until(async () => (await subscribers()) > 0, limits);
  ring();
  await until(() => counts.looks === 2, limits);
  await relay.close();
});
