import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { complain, Problem, say, step, warn } from './output.mjs';
import { fromEnvironment } from './secrets.mjs';

const connectTimeoutMs = 5_000;
/** What is added to the gateway's port, so that the addresses stay the same between runs. */
const postgresPort = 50;
const redisPort = 51;

/** PostgreSQL: DATABASE_URL when set, else our own. */
export function openPostgres({ embedded, stateDir, gatewayPort }) {
  const external = fromEnvironment('DATABASE_URL');
  if (external) return useExternal('PostgreSQL', 'DATABASE_URL', external, pingPostgres);
  return startOwn('PostgreSQL', () =>
    embedded.startPostgres({ dataDir: join(stateDir, 'postgres'), port: gatewayPort + postgresPort }),
  );
}

/** Redis: REDIS_URL when set, else our own. */
export function openRedis({ embedded, stateDir, gatewayPort }) {
  const external = fromEnvironment('REDIS_URL');
  if (external) return useExternal('Redis', 'REDIS_URL', external, pingRedis);
  return startOwn('Redis', () =>
    embedded.startRedis({ dataDir: join(stateDir, 'redis'), port: gatewayPort + redisPort, log: say }),
  );
}

async function useExternal(title, variable, url, ping) {
  await step(`${title} from ${variable}`, async () => {
    await ping(url).catch((error) => {
      throw new Problem(
        `${title} does not answer at ${variable} (${withoutPassword(url)}): ${error.message || error.code}`,
      );
    });
  });
  return { url, pid: undefined, stop: async () => {} };
}

async function startOwn(title, start) {
  let stopped = false;
  let server;
  const port = await step(title, async () => {
    server = await start().catch((error) => {
      throw new Problem(error.message);
    });
    return `port ${server.port}`;
  });
  const watch = () => server.onExit((reason) => void restart(reason));
  const restart = async (reason) => {
    if (stopped) return;
    warn(`${title} ${reason}. It starts again; what is stored is safe.`);
    await sleep(500);
    if (stopped) return;
    const before = server.url;
    try {
      server = await start();
    } catch (error) {
      return complain(`${title} cannot be started again: ${error.message}`);
    }
    if (server.url !== before) return complain(`${title} has lost its ${port}. Stop with Ctrl-C and start anew.`);
    watch();
    say(`${title} answers again.`);
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
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  await client.connect();
  await client.end();
}

async function pingRedis(url) {
  const { default: Redis } = await import('ioredis');
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: connectTimeoutMs });
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
    return 'not an address';
  }
}
