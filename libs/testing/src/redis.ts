import Redis from 'ioredis';

export type TestRedis = { url: string; flush(): Promise<void> };

const counterKey = 'parley:test:databases';

/**
 * Returns an empty logical Redis database for one test file. A counter in database 0 assigns the
 * numbers in turn, because test files run in several processes.
 */
export async function createTestRedis(): Promise<TestRedis> {
  const url = new URL(serverUrl());
  const database = await withRedis(serverUrl(), async (redis) => {
    const [, databases] = (await redis.config('GET', 'databases')) as [string, string];
    return 1 + ((await redis.incr(counterKey)) % (Number(databases) - 1));
  });
  url.pathname = `/${database}`;
  const flush = () => withRedis(url.href, async (redis) => void (await redis.flushdb()));
  await flush();
  return { url: url.href, flush };
}

/**
 * Makes the requests of an organization that the rate limit has counted this old, by the clock of
 * Redis. A process keeps a refusal in its memory, so age them before the first one.
 */
export async function ageRequests(
  redisUrl: string,
  organizationId: string,
  ageMs: number,
): Promise<void> {
  await withRedis(redisUrl, async (redis) => {
    const [seconds, microseconds] = await redis.time();
    const atMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000) - ageMs;
    // libs/redis/src/rate-limit.ts: a list of times for the organization, and one for
    // each of its keys.
    for (const list of await redis.keys(`rate:{${organizationId}}*`)) {
      const count = await redis.llen(list);
      for (let at = 0; at < count; at += 1) await redis.lset(list, at, atMs);
    }
  });
}

function serverUrl(): string {
  const url = process.env.PARLEY_TEST_REDIS_URL;
  if (!url)
    throw new Error(
      'PARLEY_TEST_REDIS_URL is not set. Run the test with jest.preset.cjs or npm test',
    );
  return url;
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 5_000 });
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
