import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawnGuarded, stopPid, stopProcess, waitForOutput } from './child-process';
import { findOrInstallRedis } from './install-redis';
import { freePort } from './free-port';
import type { RunningServer } from './start-postgres';
import { processCommand } from './process-command';
import { makeTemporaryFolder } from './temporary-folder';

export type RedisOptions = (
  { dataDir: string; ephemeral?: false } | { ephemeral: true; dataDir?: undefined }
) & {
  port?: number;
  /** Called with a line when redis-server must be installed first. */
  log?: (line: string) => void;
};

/**
 * Starts Redis on 127.0.0.1 with `noeviction`, which the queues require. It stores its data in an
 * append-only file, unless it is ephemeral. Uses `port` when it is free, otherwise another port.
 * Throws with the last lines of its output when it does not start.
 */
export async function startRedis(options: RedisOptions): Promise<RunningServer> {
  const program = await findOrInstallRedis(options.log);
  const folder = options.ephemeral ? makeTemporaryFolder('redis') : resolve(options.dataDir ?? '');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pidFile = join(folder, 'redis.pid');
  await stopLeftover(pidFile);

  const port = await freePort(options.port);
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    pidfile: pidFile,
    save: '',
    appendonly: options.ephemeral ? 'no' : 'yes',
    'maxmemory-policy': 'noeviction',
    databases: options.ephemeral ? '2048' : '16', // each test file uses its own logical database
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawnGuarded(program, args, {
    cwd: folder,
    removeAfter: options.ephemeral ? folder : undefined,
  });
  await waitForOutput(child, 'eady to accept connections', 30_000).catch((error: Error) => {
    throw new Error(`Redis did not start: ${error.message}`);
  });

  let stopping = false;
  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    pid: child.pid ?? 0,
    onExit: (listener) => {
      child.once(
        'exit',
        (code, signal) => stopping || listener(`ended with ${signal ?? `code ${code}`}`),
      );
    },
    stop: async () => {
      stopping = true;
      await stopProcess(child, 'SIGTERM', 10_000);
      if (options.ephemeral) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stops the server of an earlier run that was killed. */
async function stopLeftover(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  if (pid > 1 && processCommand(pid).includes('redis-server'))
    await stopPid(pid, 'SIGTERM', 10_000);
  rmSync(pidFile, { force: true });
}
