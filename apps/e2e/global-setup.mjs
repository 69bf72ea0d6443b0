import { join } from 'node:path';
import { ensureChromium } from './ensure-chromium.mjs';
import startServers from '../../tools/test/global-setup.mjs';
import { build, buildableApps } from '../../tools/build.mjs';
import { loadTesting } from '../../tools/start/load-typescript.mjs';
import { root } from '../../tools/start/paths.mjs';

/** One stack of real processes for all files of a run; each file has an organization of its own in it. */
export default async function globalSetup() {
  await startServers();
  ensureChromium();
  const bundles = join(root, 'dist', 'e2e');
  const apps = buildableApps().filter((app) => !process.env.PARLEY_E2E_WITHOUT?.split(',').includes(app));
  await build(apps, { outdir: bundles });

  const { createTestDatabase, createTestRedis, startStack } = await loadTesting();
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const stack = await startStack({
    databaseUrl: database.url,
    redisUrl: redis.url,
    bundles,
    // The suite asks more than a person would; limits.test.ts has a stack with the real ones.
    environment: { RATE_LIMIT_PER_KEY: '100000', RATE_LIMIT_PER_ORGANIZATION: '100000' },
  });
  globalThis.parleyStack = { stack, database };
  process.env.PARLEY_E2E_STACK = JSON.stringify({
    url: stack.url,
    executorToken: stack.executorToken,
    urls: Object.fromEntries(Object.values(stack.services).map(({ name, url }) => [name, url])),
    databaseUrl: database.url,
    redisUrl: redis.url,
    bundles,
  });
}
