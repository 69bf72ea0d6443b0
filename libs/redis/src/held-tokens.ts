import { keyPrefix } from './job-catalog';
import type { RedisConnection } from './connect-redis';

export type HeldTokens = ReturnType<typeof createHeldTokens>;

const key = `${keyPrefix}:held-tokens`;

const holdScript = `
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])`;

/**
 * The tokens of payment callbacks that were answered without a row in PostgreSQL, each one
 * once. The number is limited, because any client can send tokens. `redis`: a connection of the
 * role `producer`.
 */
export function createHeldTokens(redis: RedisConnection) {
  redis.defineCommand('parleyHold', { numberOfKeys: 1, lua: holdScript });
  const hold = (redis as RedisConnection & { parleyHold: (...args: unknown[]) => Promise<number> })
    .parleyHold;
  return {
    /**
     * Adds a token; false when there are `max` others. Rejects within a second when Redis
     * does not answer.
     */
    add: async (token: string, max: number): Promise<boolean> =>
      (await hold.call(redis, key, token, max)) === 1,
    /** The tokens that have been held longest. */
    async oldest(limit: number): Promise<{ token: string; heldSeconds: number }[]> {
      const [[nowSeconds], found] = await Promise.all([
        redis.time(),
        redis.zrange(key, 0, String(limit - 1), 'WITHSCORES'),
      ]);
      return Array.from({ length: found.length / 2 }, (_one, at) => ({
        token: found[2 * at]!,
        heldSeconds: nowSeconds! - Number(found[2 * at + 1]),
      }));
    },
    async remove(tokens: readonly string[]): Promise<void> {
      if (tokens.length > 0) await redis.zrem(key, ...tokens);
    },
  };
}
