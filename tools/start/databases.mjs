import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyDatabase, isOlder, migrationsDir } from './copy-database.mjs';
import { printError, Problem, print, step, printWarning } from './output.mjs';
import { fromEnvironment } from './secrets.mjs';

const connectTimeoutMs = 5_000;
/** Added to the gateway's port, so that the addresses stay the same between runs. */
const postgresPortOffset = 50;
const redisPortOffset = 51;

/**
 * Connects to DATABASE_URL when it is set, and starts a PostgreSQL otherwise. Its database is
 * copied first when it is of an earlier version, unless `copy` is false.
 */
export async function openPostgres({
  embedded,
  stateDir,
  gatewayPort,
  copy,
  migrations = migrationsDir,
}) {
  const external = fromEnvironment('DATABASE_URL');
  if (external) return useExternal('PostgreSQL', 'DATABASE_URL', external, pingPostgres);
  const start = () =>
    startEmbedded('PostgreSQL', () =>
      embedded.startPostgres({
        dataDir: join(stateDir, 'postgres'),
        port: gatewayPort + postgresPortOffset,
      }),
    );
  const server = await start();
  if (!copy || !(await isOlder(server.url, migrations))) return server;
  await server.stop();
  await copyDatabase(stateDir);
  return start();
}

/** Connects to REDIS_URL when it is set, and starts a Redis otherwise. */
export async function openRedis({ embedded, stateDir, gatewayPort }) {
  const external = fromEnvironment('REDIS_URL');
  if (external && !/^rediss?:/.test(external))
    throw new Problem(
      'REDIS_URL must be a redis:// or rediss:// address. Sentinels are not supported by npm start.',
    );
  if (external) return useExternal('Redis', 'REDIS_URL', external, pingRedis);
  return startEmbedded('Redis', () =>
    embedded.startRedis({
      dataDir: join(stateDir, 'redis'),
      port: gatewayPort + redisPortOffset,
      log: print,
    }),
  );
}

async function useExternal(title, variable, url, ping) {
  await step(`Connecting to ${title} (${variable})`, async () => {
    await ping(url).catch((error) => {
      throw new Problem(
        `Cannot connect to ${title} at ${variable} (${withoutPassword(url)}): ${error.message || error.code}`,
      );
    });
  });
  return { url, pid: undefined, stop: async () => {} };
}

async function startEmbedded(title, start) {
  let stopped = false;
  let server;
  const port = await step(`Starting ${title}`, async () => {
    server = await start().catch((error) => {
      throw new Problem(error.message);
    });
    return `port ${server.port}`;
  });
  const watch = () => server.onExit((reason) => void restart(reason));
  const restart = async (reason) => {
    if (stopped) return;
    printWarning(`${title} ${reason}. Restarting it; stored data is kept.`);
    await sleep(500);
    if (stopped) return;
    const before = server.url;
    try {
      server = await start();
    } catch (error) {
      return printError(`${title} cannot be restarted: ${error.message}`);
    }
    if (server.url !== before)
      return printError(
        `${title} could not be restarted on ${port}. Press Ctrl-C and run npm start again.`,
      );
    watch();
    print(`${title} is running again.`);
  };
  watch();
  return {
    url: server.url,
    get pid() {
      return server.pid;
    },
    stop: () => {
      stopped = true;
      return server.stop();
    },
  };
}

async function pingPostgres(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  await client.connect();
  await client.end();
}

async function pingRedis(url) {
  const { default: Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: connectTimeoutMs,
  });
  let cause;
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}

function withoutPassword(url) {
  try {
    return Object.assign(new URL(url), { password: '' }).href;
  } catch {
    return 'not a URL';
  }
}
