import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres, startRedis } from '@parley/embedded';
import { shared } from './stack';

export type OwnServers = Awaited<ReturnType<typeof startOwnServers>>;

/**
 * Starts PostgreSQL, with the tables, and Redis for one test file, which may stop,
 * restart and empty them.
 */
export async function startOwnServers(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `parley-${name}-`));
  const [postgresFolder, redisFolder] = [join(folder, 'postgres'), join(folder, 'redis')];
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: postgresFolder }),
    startRedis({ dataDir: redisFolder }),
  ]);
  await promisify(execFile)(
    process.execPath,
    [join(shared.bundles, 'cli', 'main.cjs'), 'migrate'],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: postgres.url },
    },
  );
  const servers = {
    folder,
    postgres,
    redis,
    /** Starts PostgreSQL again after it was stopped, on the same port. */
    async restartPostgres() {
      servers.postgres = await startPostgres({
        dataDir: postgresFolder,
        port: servers.postgres.port,
      });
    },
    async restartRedis() {
      servers.redis = await startRedis({ dataDir: redisFolder, port: servers.redis.port });
    },
    async stop() {
      await Promise.all([servers.postgres.stop(), servers.redis.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return servers;
}
