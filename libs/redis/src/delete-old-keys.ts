import { type JobName, jobNames, keyPrefix } from './job-catalog';
import type { RedisConnection } from './connect-redis';

/** Earlier versions had the keys of all queues under this prefix, without a hash tag. */
const oldPrefix = keyPrefix;
/** Each worker of an earlier version moves the schedule of this job forward every second. */
const heartbeat: JobName = 'sweep-executions';
const quietMs = 60_000;
const batch = 1_000;
/** A queue has this key from its first job until it is deleted here. */
const markOf = (name: JobName) => `${oldPrefix}:${name}:meta`;
const isOfQueue = new RegExp(`^${oldPrefix}:(${jobNames.join('|')}):`);

/**
 * Deletes the keys that queues of earlier versions have left, after no worker of such a version has run for a minute. Returns
 * their number. Their jobs are not moved: a job only reports that a row is due, and sweeps find the row. When it is interrupted,
 * the next call continues.
 */
export async function deleteOldKeys(redis: RedisConnection, signal?: AbortSignal): Promise<number> {
  if ((await redis.exists(...jobNames.map(markOf))) === 0) return 0;
  const [, dueAtMs = 0] = await redis.zrange(
    `${oldPrefix}:${heartbeat}:repeat`,
    -1,
    '-1',
    'WITHSCORES',
  );
  if (Number(dueAtMs) > Date.now() - quietMs) return 0;
  let deleted = 0;
  let cursor = '0';
  do {
    signal?.throwIfAborted();
    const [next, found] = await redis.scan(cursor, 'MATCH', `${oldPrefix}:*`, 'COUNT', batch);
    const old = found.filter((key) => isOfQueue.test(key) && !key.endsWith(':meta'));
    if (old.length > 0) deleted += await redis.unlink(...old);
    cursor = next;
  } while (cursor !== '0');
  return deleted + (await redis.unlink(...jobNames.map(markOf)));
}
