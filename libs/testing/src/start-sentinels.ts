import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type RunningServer,
  findOrInstallRedis,
  freePort,
  makeTemporaryFolder,
  spawnGuarded,
  startRedis,
  stopProcess,
} from '@parley/embedded';
import Redis from 'ioredis';
import { until } from './until';

export interface Sentinels {
  /** An address of the form redis-sentinel://. */
  url: string;
  /** The primary that was started, and its replica. */
  servers: readonly [RunningServer, RunningServer];
  /** The processes of the sentinels, in the order of the address. */
  sentinelPids: readonly number[];
  stop(): Promise<void>;
}

const name = 'parley-test';
/** Time without an answer after which a server is down. */
const downAfterMs = 500;

/**
 * Starts a primary, a replica and three sentinels, which promote the replica when the
 * primary is down.
 */
export async function startSentinels({
  password = '',
  sentinelPassword = '',
} = {}): Promise<Sentinels> {
  const servers = await Promise.all([
    startRedis({ ephemeral: true }),
    startRedis({ ephemeral: true }),
  ]);
  const [primary, replica] = servers;
  const [first, second] = servers.map(({ url }) => new Redis(url)) as [Redis, Redis];
  await first.config('SET', 'repl-diskless-sync-delay', '0');
  for (const redis of [first, second]) {
    // The masters' password is also that of their replicas, because a primary may become one.
    if (password === '') continue;
    await redis.config('SET', 'masterauth', password);
    await redis.config('SET', 'requirepass', password);
  }
  await second.replicaof('127.0.0.1', String(primary.port));
  await until(async () => (await second.info('replication')).includes('master_link_status:up'), {
    everyMs: 50,
  });
  for (const redis of [first, second]) redis.disconnect();

  const program = await findOrInstallRedis();
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const folder = makeTemporaryFolder('sentinels');
  const sentinels = ports.map((port) => {
    const dir = join(folder, String(port));
    mkdirSync(dir);
    const settings = [
      ...[`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`],
      `sentinel monitor ${name} 127.0.0.1 ${primary.port} 2`,
      `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
      `sentinel failover-timeout ${name} 3000`,
      ...(password === '' ? [] : [`sentinel auth-pass ${name} ${password}`]),
      ...(sentinelPassword === ''
        ? []
        : [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`]),
    ];
    const file = join(dir, 'sentinel.conf');
    writeFileSync(file, settings.join('\n'));
    return spawnGuarded(program, [file, '--sentinel'], { stdio: 'ignore', removeAfter: dir });
  });
  const isReady = async (port: number) => {
    const sentinel = new Redis({
      port,
      password: sentinelPassword || undefined,
      retryStrategy: () => null,
    });
    sentinel.on('error', () => {});
    try {
      const found = (await sentinel.call('SENTINEL', 'MASTER', name)) as string[];
      const valueOf = (field: string) => Number(found[found.indexOf(field) + 1]);
      return valueOf('num-slaves') === 1 && valueOf('num-other-sentinels') === 2;
    } catch {
      return false;
    } finally {
      sentinel.disconnect();
    }
  };
  for (const port of ports) await until(() => isReady(port), { everyMs: 100 });

  const options = sentinelPassword === '' ? '' : `?sentinelPassword=${sentinelPassword}`;
  const user = password === '' ? '' : `:${password}@`;
  return {
    url: `redis-sentinel://${user}${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${name}${options}`,
    servers: [primary, replica],
    sentinelPids: sentinels.map(({ pid }) => pid!),
    async stop() {
      await Promise.all(sentinels.map((child) => stopProcess(child, 'SIGTERM', 5_000)));
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
