import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { spawnGuarded, stopPid, stopProcess, untilPrinted } from './child-process';
import { freePort } from './free-port';
import { makePrivateFolder, postgresHome, type PostgresHome } from './postgres-home';
import { processCommand } from './process-command';
import { makeTemporaryFolder } from './temporary-folder';

const run = promisify(execFile);

export type RunningServer = {
  url: string;
  port: number;
  pid: number;
  /** Called once when the server ends by itself, never after `stop()`. */
  onExit(listener: (reason: string) => void): void;
  stop(): Promise<void>;
};

export type PostgresOptions =
  | { dataDir: string; port?: number; ephemeral?: false }
  /**
   * Everything in a temporary folder, no durability, gone after `stop()`. `keepAs` keeps the folder under that name
   * instead, and `from` starts from a copy of one that was kept, which saves making the cluster (0.8 s).
   */
  | { ephemeral: true; from?: string; keepAs?: string; dataDir?: undefined; port?: number };

const notDurable = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=300',
  'wal_level=minimal',
  'max_wal_senders=0',
];
const durable = ['max_connections=200'];

/**
 * Starts a private PostgreSQL on 127.0.0.1 and makes the cluster when there is none. The port is `port` when it is free,
 * else another. Throws with PostgreSQL's own last lines when it does not start.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningServer> {
  const ephemeralFolder = options.ephemeral ? makeTemporaryFolder('postgres', fastFolder()) : null;
  const home = postgresHome(ephemeralFolder ?? options.dataDir ?? '');
  makePrivateFolder(home.dataDir, home.account);
  await stopLeftover(home.dataDir);
  const password = options.ephemeral ? await openCopy(home, options.from) : await openCluster(home);

  const port = await freePort(options.port);
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=', // a socket in /tmp would clash with other servers and is not needed
    'logging_collector=off',
    ...(options.ephemeral ? notDurable : durable),
  ];
  const child = spawnGuarded(join(home.bin, 'postgres'), ['-D', home.dataDir, ...settings.flatMap((s) => ['-c', s])], {
    ...home.account,
    cwd: '/',
    env: serverEnv(),
    lastSignal: 'SIGINT',
    removeAfter: ephemeralFolder ?? undefined,
  });
  await untilPrinted(child, 'ready to accept connections', 30_000).catch((error: Error) => {
    throw new Error(`PostgreSQL did not start: ${error.message}`);
  });

  let stopping = false;
  return {
    url: `postgresql://postgres${password ? `:${password}` : ''}@127.0.0.1:${port}/postgres`,
    port,
    pid: child.pid ?? 0,
    onExit: (listener) => {
      child.once('exit', (code, signal) => stopping || listener(`ended with ${signal ?? `code ${code}`}`));
    },
    stop: async () => {
      stopping = true;
      const keepAs = options.ephemeral ? options.keepAs : undefined;
      // SIGINT: end sessions and write a checkpoint. Data that nobody reads again need not be written down.
      await stopProcess(child, options.ephemeral && !keepAs ? 'SIGQUIT' : 'SIGINT', 10_000);
      if (keepAs) await keep(home.dataDir, keepAs);
      if (ephemeralFolder) rmSync(ephemeralFolder, { recursive: true, force: true });
    },
  };
}

/** The password is written last: without it the cluster is half made, by a run that was killed, and is made again. */
async function openCluster(home: PostgresHome): Promise<string> {
  const passwordPath = join(home.dataDir, 'parley-password');
  if (existsSync(passwordPath)) return readFileSync(passwordPath, 'utf8').trim();
  rmSync(home.dataDir, { recursive: true, force: true });
  makePrivateFolder(home.dataDir, home.account);
  const password = randomBytes(18).toString('base64url');
  await initialise(home, password);
  writeFileSync(passwordPath, password, { mode: 0o600 });
  return password;
}

async function openCopy(home: PostgresHome, from: string | undefined): Promise<null> {
  if (from) await run('cp', ['-a', `${from}/.`, home.dataDir]);
  else await initialise(home, null);
  return null;
}

/** Renamed into place, so that a half-made copy is never used and the faster of two processes wins. */
async function keep(dataDir: string, keepAs: string): Promise<void> {
  const partial = `${keepAs}.${process.pid}`;
  mkdirSync(dirname(keepAs), { recursive: true });
  await run('cp', ['-a', dataDir, partial]);
  if (existsSync(keepAs)) rmSync(partial, { recursive: true });
  else renameSync(partial, keepAs);
}

/** Case folding by PostgreSQL's own tables (builtin C.UTF-8), so that searches behave alike on every machine. */
async function initialise(home: PostgresHome, password: string | null): Promise<void> {
  const passwordFile = join(home.dataDir, '..', `.postgres-${randomBytes(6).toString('hex')}`);
  const args = [
    '-D',
    home.dataDir,
    '-U',
    'postgres',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    '--no-sync',
  ];
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...(password ? [] : ['--wal-segsize=1']));
  args.push(...(password ? ['--auth=scram-sha-256', `--pwfile=${passwordFile}`] : ['--auth=trust']));
  try {
    if (password) {
      writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
      if (home.account) chownSync(passwordFile, home.account.uid, home.account.gid);
    }
    await run(join(home.bin, 'initdb'), args, { ...home.account, cwd: '/', env: serverEnv() });
  } catch (error) {
    rmSync(home.dataDir, { recursive: true, force: true });
    throw new Error(`PostgreSQL could not make its data folder: ${(error as { stderr?: string }).stderr ?? error}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** An earlier run that was killed may have left its server running, or only its lock file. */
async function stopLeftover(dataDir: string): Promise<void> {
  const lockFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  if (pid > 1 && processCommand(pid).includes(dataDir)) await stopPid(pid, 'SIGINT', 10_000);
  rmSync(lockFile, { force: true });
}

/** Memory instead of a disk where there is plenty: cloning a database then takes a third of the time. */
function fastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > 4 * 1024 ** 3 ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

function serverEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}
