import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from './connect-redis';

/**
 * A list of the times of admitted requests for each counter, newest first, by the clock of Redis.
 * All admit, or none counts.
 */
const admitAllScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
local wait = 0
for i = 1, #KEYS do
  local oldest = tonumber(redis.call('LINDEX', KEYS[i], ARGV[i + 1] - 1) or 0)
  wait = math.max(wait, math.min(oldest, now) + window + 1 - now)
end
if wait > 0 then return wait end
for i = 1, #KEYS do
  redis.call('LPUSH', KEYS[i], now)
  redis.call('LTRIM', KEYS[i], 0, ARGV[i + 1] - 1)
  redis.call('PEXPIRE', KEYS[i], window + 1)
end
return 0`;

type AdmitAll = (keys: number, ...values: (string | number)[]) => Promise<number>;

export interface Counter {
  name: string;
  limit: number;
}

const deadlineMs = 1_000;

/**
 * Limits callers that have no other limit, so it refuses them while Redis does not answer. A
 * request is admitted when all of its counters have room, exactly in any window and over all
 * processes. `group`: its counters are on one shard. Resolves with 0, the time in Unix milliseconds
 * of the next attempt, or `Infinity` when Redis has not answered within a second.
 */
export function createStrictLimit(
  redis: RedisConnection,
  { name, windowMs }: { name: string; windowMs: number },
) {
  redis.defineCommand('parleyAdmitAll', { lua: admitAllScript });
  const ask = (redis as RedisConnection & { parleyAdmitAll: AdmitAll }).parleyAdmitAll.bind(redis);
  return async (group: string, counters: readonly Counter[]): Promise<number> => {
    if (redis.status !== 'ready') return Infinity;
    const keys = counters.map((counter) => `${name}:{${group}}:${counter.name}`);
    const answer = ask(keys.length, ...keys, windowMs, ...counters.map(({ limit }) => limit));
    const waitMs = await Promise.race([answer, sleep(deadlineMs, Infinity, { ref: false })]).catch(
      () => Infinity,
    );
    return waitMs > 0 ? Date.now() + waitMs + 1 : 0;
  };
}
