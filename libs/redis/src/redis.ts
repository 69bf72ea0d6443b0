import Redis, { type RedisOptions } from 'ioredis';

export type RedisConnection = Redis;

export interface RedisSettings {
  url: string;
  /**
   * A producer answers to somebody who waits, so it fails at once when Redis is away; a worker has nobody waiting and
   * blocks until Redis is back. A limiter is a producer that watches the time itself, as a timer for each of its
   * commands would cost as much as the command. They must not share a connection.
   */
  role: 'producer' | 'limiter' | 'worker';
  /** Shown in CLIENT LIST. */
  name?: string;
  onError?: (error: Error) => void;
}

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000);

const failFast: RedisOptions = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // What was sent when the connection broke may have been done: its sender hears of the failure and decides.
  autoResendUnfulfilledCommands: false,
};

const byRole: Record<RedisSettings['role'], RedisOptions> = {
  producer: { ...failFast, commandTimeout: 1_000, socketTimeout: 3_000 },
  limiter: failFast,
  worker: { maxRetriesPerRequest: null },
};

/** A connection that comes back by itself. Starts without Redis too; `status` is `ready` when it can be used. */
export function connectRedis({ url, role, name = 'parley', onError }: RedisSettings): RedisConnection {
  const redis = new Redis(url, {
    ...byRole[role],
    connectTimeout: 5_000,
    // Of a connection that is already broken, ioredis waits as long for an end that has long come, and so would a process.
    disconnectTimeout: 200,
    keepAlive: 10_000,
    connectionName: name,
    retryStrategy: reconnectDelayMs,
  });
  // Without a listener ioredis prints to the console.
  redis.on('error', (error: Error) => onError?.(error));
  return redis;
}

export type RedisCheck = { ok: true } | { ok: false; problem: string };

/**
 * Whether this Redis may hold queues: any `maxmemory-policy` but `noeviction` drops jobs when memory runs out. Throws
 * when Redis cannot be asked; a managed Redis that hides CONFIG is taken at its word.
 */
async function checkRedis(redis: RedisConnection): Promise<RedisCheck> {
  const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
  if (policy === undefined || policy === 'noeviction') return { ok: true };
  return {
    ok: false,
    problem: `Redis has maxmemory-policy ${policy}, which may drop queued jobs; set it to noeviction (CONFIG SET maxmemory-policy noeviction)`,
  };
}

/**
 * At the start of a process: a Redis that may drop jobs is refused when `strict`, else warned about. One that is away
 * is no reason not to start, as everything that counts is in PostgreSQL.
 */
export async function requireSafeRedis(
  redis: RedisConnection,
  { strict, warn }: { strict: boolean; warn: (problem: string) => void },
): Promise<void> {
  let check: RedisCheck;
  try {
    await waitForRedis(redis, 2_000);
    check = await checkRedis(redis);
  } catch (error) {
    return warn(`Redis could not be checked: ${(error as Error).message}`);
  }
  if (check.ok) return;
  if (strict) throw new Error(check.problem);
  warn(check.problem);
}

/** Resolves when the connection can be used, or throws after the time given. */
export async function waitForRedis(redis: RedisConnection, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    const onReady = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      redis.off('ready', onReady);
      reject(new Error(`Redis is not reachable (waited ${timeoutMs} ms)`));
    }, timeoutMs);
    redis.once('ready', onReady);
  });
}

/** Ends a connection after what is under way has been answered, or at once when nobody answers. */
export async function closeRedis(redis: RedisConnection): Promise<void> {
  const ended = redis.status === 'ready' && (await redis.quit().then(Boolean, () => false));
  if (!ended && redis.status !== 'end') redis.disconnect();
}
