import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadEmbedded } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { prepareTemplate, templateName } from './template.mjs';

/**
 * Starts a throw-away PostgreSQL and Redis, each only when the environment does not name one already, and migrates the
 * database that tests clone.
 * @param {(line: string) => void} [log]
 * @returns {Promise<{ env: Record<string, string>, stop: () => Promise<void> }>} `env` is what the tests read.
 */
export async function startTestServers(log = console.log) {
  const embedded = await loadEmbedded();
  embedded.sweepTemporaryFolders(); // of runs that were killed
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

/** A migrated cluster is kept per set of migrations, as making one takes two seconds and copying it a tenth of one. */
async function startPostgres({ startPostgres }) {
  const external = process.env.PARLEY_TEST_POSTGRES_URL;
  if (external) {
    await prepareTemplate(external);
    return { url: external, stop: async () => {} };
  }
  const cache = join(root, 'node_modules', '.cache', 'parley-postgres');
  const kept = join(cache, templateName());
  if (!existsSync(kept)) {
    rmSync(cache, { recursive: true, force: true }); // those of earlier migrations
    const maker = await startPostgres({ ephemeral: true, keepAs: kept });
    try {
      await prepareTemplate(maker.url);
    } catch (error) {
      await maker.stop();
      rmSync(kept, { recursive: true, force: true }); // or the next run would take it for a migrated one
      throw error;
    }
    await maker.stop();
  }
  return startPostgres({ ephemeral: true, from: kept });
}
