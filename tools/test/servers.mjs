import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadEmbedded } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { prepareTemplate, templateName } from './template.mjs';

/**
 * Starts a temporary PostgreSQL and Redis, unless the environment names existing ones, and prepares
 * the template that test databases are cloned from.
 * @param {(line: string) => void} [log]
 * @returns {Promise<{ env: Record<string, string>, stop: () => Promise<void> }>} `env` are
 *   variables for the tests
 */
export async function startTestServers(log = console.log) {
  const embedded = await loadEmbedded();
  embedded.sweepTemporaryFolders(); // deletes folders of runs that were killed
  const started = await Promise.allSettled([
    startPostgres(embedded),
    process.env.PARLEY_TEST_REDIS_URL
      ? { url: process.env.PARLEY_TEST_REDIS_URL, stop: async () => {} }
      : embedded.startRedis({ ephemeral: true, log }),
  ]);
  const stop = async () => {
    await Promise.all(started.map((server) => server.value?.stop()));
  };
  const failed = started.find((server) => server.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const [postgres, redis] = started.map((server) => server.value);
  return {
    env: {
      PARLEY_TEST_POSTGRES_URL: postgres.url,
      PARLEY_TEST_REDIS_URL: redis.url,
      PARLEY_TEST_TEMPLATE: templateName(),
    },
    stop,
  };
}

/**
 * Keeps a migrated cluster for each set of migrations: creating one takes two seconds,
 * copying it 0.1 seconds.
 */
async function startPostgres({ startPostgres }) {
  const external = process.env.PARLEY_TEST_POSTGRES_URL;
  if (external) {
    await prepareTemplate(external);
    return { url: external, stop: async () => {} };
  }
  const cache = join(root, 'node_modules', '.cache', 'parley-postgres');
  const kept = join(cache, templateName());
  if (!existsSync(kept)) {
    rmSync(cache, { recursive: true, force: true }); // clusters of earlier migrations
    const server = await startPostgres({ ephemeral: true, keepAs: kept });
    try {
      await prepareTemplate(server.url);
    } catch (error) {
      await server.stop();
      // Otherwise the next run would use an incomplete cluster.
      rmSync(kept, { recursive: true, force: true });
      throw error;
    }
    await server.stop();
  }
  return startPostgres({ ephemeral: true, from: kept });
}
