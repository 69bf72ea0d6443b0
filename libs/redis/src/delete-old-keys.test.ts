import { createTestRedis } from '@parley/testing';
import { Queue } from 'bullmq';
import { closeRedis, connectRedis, waitForRedis } from './connect-redis';
import { jobNames } from './job-catalog';
import { createQueues } from './queues';

/** More than one batch of the deletion. */
const jobs = 2_500;

test('keys of queues of earlier versions are deleted, and no others, once their workers have been away for a minute', async () => {
  const redis = connectRedis({ url: (await createTestRedis()).url, role: 'producer' });
  await waitForRedis(redis, 5_000);
  const queues = createQueues({ redis });
  expect(await queues.deleteOldKeys()).toBe(0);

  await queues.schedule();
  await queues.enqueue('run-execution', { tenant: 1, executionId: '1' });
  await queues.heldTokens.add('token', 10);
  const others = [
    'parley:chunks:1',
    'parley:run-executions:meta',
    'parley:meta',
    'rate:{o}',
    'visitors:{o}:a',
  ];
  for (const key of others) await redis.set(key, '');
  const kept = (await redis.keys('*')).sort();

  // As an earlier version wrote them.
  const old = (name: string) =>
    new Queue(name, { connection: redis, prefix: 'parley', skipVersionCheck: true });
  for (const name of jobNames)
    await old(name).add(name, {}, { jobId: 'waiting', removeOnComplete: true });
  const many = Array.from({ length: jobs }, (_one, at) => ({
    name: 'x',
    data: {},
    opts: { jobId: `job-${at}` },
  }));
  await old('sync-identity').addBulk(many);
  await old('send-message').add('x', {}, { delay: 3_600_000 });
  await old('sweep-retention').upsertJobScheduler(
    'sweep-retention',
    { every: 3_600_000 },
    { name: 'x' },
  );
  await old('sweep-executions').upsertJobScheduler(
    'sweep-executions',
    { every: 1_000 },
    { name: 'x' },
  );
  const all = (await redis.keys('*')).length;
  expect(all).toBeGreaterThan(kept.length + jobs + 3 * jobNames.length);

  expect(await queues.deleteOldKeys()).toBe(0);
  expect(await redis.dbsize()).toBe(all);
  await redis.zadd('parley:sweep-executions:repeat', Date.now() - 61_000, 'sweep-executions');
  // Interrupted after a part, as by a worker that is killed: the next call continues.
  await redis.unlink(
    'parley:sweep-executions:repeat',
    'parley:sync-identity:wait',
    'parley:sync-identity:job-7',
  );
  await expect(queues.deleteOldKeys(AbortSignal.abort())).rejects.toThrow();
  const deleted = await Promise.all([queues.deleteOldKeys(), queues.deleteOldKeys()]);
  expect(deleted[0]! + deleted[1]!).toBe(all - 3 - kept.length);
  expect((await redis.keys('*')).sort()).toEqual(kept);
  expect(await queues.deleteOldKeys()).toBe(0);
  await queues.close();
  await closeRedis(redis);
});
