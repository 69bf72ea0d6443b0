import { setTimeout as sleep } from 'node:timers/promises';
import Redis, { type RedisOptions } from 'ioredis';
import { keyPrefix } from './job-catalog';
import { readSentinels } from './redis-address';

export type RedisConnection = Redis;

export interface RedisSettings {
  /** The address, in a form of `redisVariables`. */
  url: string;
  /**
   * `producer`: commands fail immediately while Redis is unavailable, because a caller waits
   * for them. `worker`: commands wait until Redis is available again. `limiter`: like
   * `producer`, without a deadline for each command; the limiters have their own. Roles must
   * not share a connection.
   */
  role: 'producer' | 'limiter' | 'worker';
  /** How long the connection waits for answers, in milliseconds. Default: the times of the role. */
  timeouts?: Pick<RedisOptions, 'commandTimeout' | 'socketTimeout'>;
  /** Shown in CLIENT LIST. */
  name?: string;
  onError?: (error: Error) => void;
}

/**
 * A server that has become a replica refuses writes. Another connection to the same address may
 * lead to the new primary.
 */
const isOfReplica = ({ message }: Error) => /^(READONLY|UNBLOCKED) /.test(message);

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000);

const failFast: RedisOptions = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // A command that was sent before the connection broke may have been executed, so its sender
  // decides about a retry.
  autoResendUnfulfilledCommands: false,
};

const byRole: Record<RedisSettings['role'], RedisOptions> = {
  producer: { ...failFast, commandTimeout: 1_000, socketTimeout: 3_000 },
  limiter: { ...failFast, socketTimeout: 3_000 },
  // A blocking command of BullMQ takes at most 10 s. Without a limit a worker would wait for a
  // primary that is silent and replaced.
  worker: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
};

/**
 * Opens a connection that reconnects automatically, even if Redis is unavailable at first. Usable
 * while `status` is `ready`.
 */
export function connectRedis({
  url,
  role,
  timeouts,
  name = 'parley',
  onError,
}: RedisSettings): RedisConnection {
  const sentinels = readSentinels(url);
  const options: RedisOptions = {
    ...sentinels,
    ...byRole[role],
    ...timeouts,
    connectTimeout: 5_000,
    // ioredis waits this long for the end of a connection that is already broken, which delays the
    // exit of the process.
    disconnectTimeout: 200,
    keepAlive: 10_000,
    connectionName: name,
    retryStrategy: reconnectDelayMs,
    reconnectOnError: isOfReplica,
    sentinelCommandTimeout: 1_000,
  };
  const redis = sentinels ? new Redis(options) : new Redis(url, options);
  // Without a listener ioredis prints to the console.
  redis.on('error', (error: Error) => onError?.(error));
  return redis;
}

/**
 * Opens a connection for subscriptions and repeats them after an outage. Its errors are not
 * reported: `redis` has the same. It sends nothing that could fail, so it also subscribes to
 * sentinels, to leave a primary that is silent when it is replaced.
 */
export function openSubscriber(
  redis: RedisConnection,
  onMessage: (channel: string, text: string) => void,
) {
  const channels = new Set<string>();
  // After an outage, the channels of the set are subscribed to, not those of before.
  const connection = redis.duplicate({
    ...failFast,
    autoResubscribe: false,
    failoverDetector: true,
  });
  let isClosed = false;
  connection.on('error', () => {});
  connection.on('message', onMessage);
  connection.on('ready', () => {
    if (channels.size > 0) connection.subscribe(...channels).catch(() => {});
  });
  // ioredis gives up when a failover is announced while it asks a sentinel for the primary.
  connection.on('end', () => {
    setTimeout(() => isClosed || connection.connect().catch(() => {}), reconnectDelayMs(0)).unref();
  });
  return {
    subscribe(channel: string): void {
      channels.add(channel);
      connection.subscribe(channel).catch(() => {});
    },
    unsubscribe(channel: string): void {
      channels.delete(channel);
      connection.unsubscribe(channel).catch(() => {});
    },
    close(): void {
      isClosed = true;
      connection.disconnect();
    },
  };
}

export type RedisCheck = { ok: true } | { ok: false; problem: string };

/**
 * Checks whether queues are safe in this Redis: any `maxmemory-policy` but `noeviction` evicts jobs
 * when memory runs out. A managed Redis that does not report the policy is accepted. Throws when
 * Redis does not answer.
 */
async function checkRedis(redis: RedisConnection): Promise<RedisCheck> {
  const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
  if (policy === undefined || policy === 'noeviction') return { ok: true };
  return {
    ok: false,
    problem: `Redis has maxmemory-policy ${policy}, which may evict queued jobs; set it to noeviction (CONFIG SET maxmemory-policy noeviction)`,
  };
}

/**
 * Checks Redis at the start of a process. A Redis that may evict jobs is an error when `strict` and
 * a warning otherwise. An unavailable Redis is a warning, because all data is in PostgreSQL.
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

/** Resolves when the connection is ready. Throws when it is not ready after `timeoutMs`. */
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

/**
 * Throws with the answer of Redis when it does not accept writes: when its memory is full, or when
 * it is a replica.
 */
export async function checkWrites(redis: RedisConnection): Promise<void> {
  await redis.set(`${keyPrefix}:check`, '', 'PX', 1_000);
}

const quitLimitMs = 1_000;

/**
 * Closes a connection after its running commands have been answered, or after a second when Redis
 * does not answer.
 */
export async function closeRedis(redis: RedisConnection): Promise<void> {
  const quit = () => redis.quit().then(Boolean, () => false);
  const ended =
    redis.status === 'ready' &&
    (await Promise.race([quit(), sleep(quitLimitMs, false, { ref: false })]));
  if (!ended && redis.status !== 'end') redis.disconnect();
}
