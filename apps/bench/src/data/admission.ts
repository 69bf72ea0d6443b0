import { type Db } from '@parley/db';
import { createApiKey, createIdentify } from '@parley/identity';
import { closeRedis, connectRedis, createRateLimiter, waitForRedis } from '@parley/redis';
import { measureInTurns, summarize, table } from '../measure';
import { big } from './load-entities';

/** Number of key checks in one sample. A single one is too short for the clock's resolution. */
const checksPerSample = 100;

/**
 * Measures the checks before each request: the cached key, and both rate limits in
 * one call of Redis.
 */
export async function admission(db: Db, redisUrl: string): Promise<void> {
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at) values ($1, $2, 'bench', 'Bench', now()) on conflict do nothing`,
    [big.organizationId, big.tenant],
  );
  const { key } = await createApiKey(db, { ...big, name: 'admission', permissions: ['data'] });
  const identify = createIdentify(db);
  const request = { headers: { authorization: `Bearer ${key}` } };
  const caller = await identify(request);
  if (caller === null) throw new Error('The key was not found');
  const redis = connectRedis({ url: redisUrl, role: 'limiter' });
  await waitForRedis(redis, 5_000);
  const limiter = createRateLimiter({ redis, limits: { perKey: 1e8, perOrganization: 1e8 } });
  const samples = await measureInTurns(
    {
      'key check, cached': async () => {
        for (let at = 0; at < checksPerSample; at += 1) await identify(request);
      },
      'PING of Redis': () => redis.ping(),
      'decision of both limits': async () => limiter.admit(caller),
    },
    { rounds: 10, perRound: 200 },
  );
  limiter.close();
  await closeRedis(redis);
  const ping = summarize(samples['PING of Redis']).p50;
  const rows = Object.entries(samples).map(([name, of]) => {
    const share = name === 'key check, cached' ? checksPerSample : 1;
    const { p50, p95 } = summarize(of);
    const micros = (ms: number): string => ((ms * 1000) / share).toFixed(1);
    return [name, micros(p50), micros(p95), `${(p50 / share / ping).toFixed(2)}×`];
  });
  console.log('\nChecks before each request\n');
  console.log(table(['', 'p50 µs', 'p95 µs', '÷ PING'], rows));
}
