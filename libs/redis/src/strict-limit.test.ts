import { startRedis } from '@parley/embedded';
import { closeRedis, connectRedis, waitForRedis } from './connect-redis';
import { createStrictLimit } from './strict-limit';

test('while Redis is silent, requests are refused after a second; the connection is replaced', async () => {
  const silent = await startRedis({ ephemeral: true });
  const redis = connectRedis({ url: silent.url, role: 'limiter' });
  await waitForRedis(redis, 10_000);
  const admit = createStrictLimit(redis, { name: 'strict', windowMs: 60_000 });
  const counters = [{ name: 'a', limit: 2 }];
  expect(await admit('group', counters)).toBe(0);

  process.kill(silent.pid, 'SIGSTOP');
  const replaced = new Promise((resolve) => redis.once('close', resolve));
  const startedAt = performance.now();
  expect(await admit('group', counters)).toBe(Infinity);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await replaced;
  expect(await admit('group', counters)).toBe(Infinity);

  process.kill(silent.pid, 'SIGCONT');
  await waitForRedis(redis, 10_000);
  expect(await admit('other', counters)).toBe(0);
  await closeRedis(redis);
  await silent.stop();
});
