import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  findOrInstallRedis,
  freePort,
  makeTemporaryFolder,
  spawnGuarded,
  stopProcess,
} from '@parley/embedded';
import { until } from '@parley/testing';
import Redis, { Cluster } from 'ioredis';
import { enqueueEveryJob, handlersOf } from '../testing/every-job';
import { type RedisConnection, checkWrites, closeRedis } from './connect-redis';
import { consume } from './consume';
import { createExecutionBells, createExecutionChunks } from './execution-chunks';
import { type JobName, jobNames } from './job-catalog';
import { createQueues } from './queues';
import { createRateLimiter } from './rate-limit';
import { createRelay, createRelayWaker } from './relay';
import { createStrictLimit } from './strict-limit';

// REDIS_URL cannot name a cluster (docs/scaling.md). This shows that no command needs
// keys of two nodes.

const slots = 16_384;
const closing: (() => unknown)[] = [];
let nodes: { host: string; port: number }[];
let admins: Redis[];

beforeAll(async () => {
  const program = await findOrInstallRedis();
  nodes = await Promise.all(
    [0, 1, 2].map(async () => ({ host: '127.0.0.1', port: await freePort() })),
  );
  for (const { port } of nodes) {
    const dir = makeTemporaryFolder('cluster');
    const settings = {
      port,
      dir,
      bind: '127.0.0.1',
      save: '',
      'cluster-enabled': 'yes',
      'cluster-port': await freePort(),
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const child = spawnGuarded(program, args, { stdio: 'ignore', removeAfter: dir });
    closing.push(() => stopProcess(child, 'SIGTERM', 5_000));
  }
  admins = nodes.map((node) =>
    new Redis({ ...node, retryStrategy: () => 50 }).on('error', () => {}),
  );
  closing.push(() => admins.forEach((admin) => admin.disconnect()));
  const share = Math.ceil(slots / admins.length);
  for (const [at, admin] of admins.entries())
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(slots, (at + 1) * share) - 1);
  const busPort = async (redis: Redis) =>
    ((await redis.config('GET', 'cluster-port')) as string[])[1]!;
  for (const [at, { host, port }] of nodes.entries())
    if (at > 0) await admins[0]!.call('CLUSTER', 'MEET', host, port, await busPort(admins[at]!));
  const isOk = async (admin: Redis) => {
    const info = String(await admin.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
  };
  for (const admin of admins) await until(() => isOk(admin));
});
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The keys that docs/operations.md lists, as patterns. */
async function documentedKeys(): Promise<RegExp[]> {
  const text = await readFile(resolve(__dirname, '../../../docs/operations.md'), 'utf8');
  const section = text.slice(
    text.indexOf('\n## Redis\n'),
    text.indexOf('\n## Long transactions\n'),
  );
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows
    .flatMap((row) => row.split('|')[1]!.match(/`[^`]+`/g) ?? [])
    .map(
      (key) =>
        new RegExp(
          `^${key.slice(1, -1).replace(/[{}]/g, '\\$&').replace(/<\w+>/g, '[\\w-]+').replace('*', '.+')}$`,
        ),
    );
}

async function connect(maxRetriesPerRequest: null | 0): Promise<RedisConnection> {
  const cluster = new Cluster(nodes, { redisOptions: { maxRetriesPerRequest } });
  const redis = cluster as unknown as RedisConnection;
  closing.push(() => closeRedis(redis));
  await until(() => redis.status === 'ready');
  return redis;
}

test('jobs of every queue, limits, streams and the relay run on a Redis Cluster, on all of its nodes', async () => {
  const [producer, worker] = [await connect(0), await connect(null)];
  const queues = createQueues({ redis: producer });
  closing.push(() => queues.close());
  const seen = new Set<JobName>();
  const failed: unknown[] = [];
  const consumer = consume({
    redis: worker,
    handlers: handlersOf((name) => seen.add(name)),
    onError: (error) => failed.push(error),
  });
  closing.push(() => consumer.close());
  await queues.schedule();
  await enqueueEveryJob(queues);
  await enqueueEveryJob(queues, { delayMs: 50 });
  const deliveries = ['a', 'b'].map((id) => ({ payload: { deliveries: [{ id }] } }));
  await queues.enqueueAll('sync-identity', deliveries);
  await until(() => seen.size === jobNames.length);
  expect(await queues.depths()).toHaveLength(jobNames.length);
  expect(failed).toEqual([]);
  const sizes = await Promise.all(admins.map((admin) => admin.dbsize()));
  expect(Math.min(...sizes)).toBeGreaterThan(5);

  const limiter = createRateLimiter({ redis: producer, limits: { perKey: 2, perOrganization: 3 } });
  closing.push(() => limiter.close());
  for (const organizationId of ['a', 'b', 'c', 'd']) {
    const admitted = [];
    for (const id of ['1', '1', '1', '2', '2'])
      admitted.push((await limiter.admit({ id: organizationId + id, organizationId })) === 0);
    expect(admitted).toEqual([true, true, false, true, false]);
  }
  const counters = [
    { name: 'a', limit: 5 },
    { name: 'b', limit: 1 },
  ];
  for (const name of ['visitors', 'sign-in', 'password-reset']) {
    const admit = createStrictLimit(producer, { name, windowMs: 60_000 });
    for (const group of ['a', 'b', 'c', 'd']) {
      expect(await admit(group, counters)).toBe(0);
      expect(await admit(group, counters)).toBeGreaterThan(0);
    }
  }

  const chunks = createExecutionChunks(producer);
  const bells = createExecutionBells(worker);
  closing.push(() => bells.close());
  let rung = 0;
  let woken = 0;
  bells.listen('execution', () => (rung += 1));
  const relay = createRelay(
    worker,
    async () => {
      woken += 1;
      return 60_000;
    },
    (error) => failed.push(error),
  );
  closing.push(() => relay.close());
  await until(() => {
    chunks.ring('execution');
    return rung > 0;
  });
  const chunk = { seq: 1, chunk: { type: 'text' } };
  expect(await chunks.append('execution', [chunk], { after: null, limit: 100 })).toBe('ok');
  expect(await chunks.read('execution', 0, 10)).toEqual([chunk]);
  const wakeRelay = createRelayWaker(producer);
  const before = woken;
  await until(() => {
    wakeRelay();
    return woken > before;
  });
  expect(await queues.heldTokens.add('token', 10)).toBe(true);
  expect(await queues.heldTokens.oldest(10)).toHaveLength(1);
  await checkWrites(producer);

  const documented = await documentedKeys();
  const keys = (await Promise.all(admins.map((admin) => admin.keys('*')))).flat();
  expect(keys.filter((key) => !documented.some((pattern) => pattern.test(key)))).toEqual([]);
  expect(documented.filter((pattern) => !keys.some((key) => pattern.test(key)))).toEqual([]);
});
