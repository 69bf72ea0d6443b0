import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { spawnGuarded, stopPid, stopProcess, waitForOutput } from './child-process';
import { freePort } from './free-port';
import {
  makePrivateFolder,
  locatePostgres,
  type PostgresInstallation,
} from './postgres-installation';
import { processCommand } from './process-command';
import { makeTemporaryFolder } from './temporary-folder';

const run = promisify(execFile);

export type RunningServer = {
  url: string;
  port: number;
  pid: number;
  /** The listener is called once when the server exits without `stop()`. */
  onExit(listener: (reason: string) => void): void;
  stop(): Promise<void>;
};

export type PostgresOptions =
  | { dataDir: string; port?: number; ephemeral?: false }
  /**
   * Uses a temporary folder without durability, which `stop()` deletes. `keepAs` copies it to that
   * path first, and `from` starts with such a copy, which saves the 0.8 s of initdb.
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
// Tables of a new installation get statistics sooner, and with them plans for many rows
// (docs/adr/0081).
const durable = ['max_connections=200', 'autovacuum_naptime=10s'];

/**
 * Starts PostgreSQL on 127.0.0.1, and creates the cluster when there is none. Uses `port` when
 * it is free, otherwise another port. Throws with the last lines of PostgreSQL's output when
 * it does not start.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningServer> {
  const ephemeralFolder = options.ephemeral
    ? makeTemporaryFolder('postgres', ephemeralParent())
    : null;
  const home = locatePostgres(ephemeralFolder ?? options.dataDir ?? '');
  makePrivateFolder(home.dataDir, home.account);
  await stopLeftover(home.dataDir);
  const password = options.ephemeral ? await openCopy(home, options.from) : await openCluster(home);

  const port = await freePort(options.port);
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    // A socket in /tmp is not needed and could conflict with other servers.
    'unix_socket_directories=',
    'logging_collector=off',
    ...(options.ephemeral ? notDurable : durable),
  ];
  const child = spawnGuarded(
    join(home.bin, 'postgres'),
    ['-D', home.dataDir, ...settings.flatMap((s) => ['-c', s])],
    {
      ...home.account,
      cwd: '/',
      env: serverEnv(),
      lastSignal: 'SIGINT',
      removeAfter: ephemeralFolder ?? undefined,
    },
  );
  // A standby is "ready to accept read-only connections".
  await waitForOutput(child, 'ready to accept ', 30_000).catch((error: Error) => {
    throw new Error(`PostgreSQL did not start: ${error.message}`);
  });

  let stopping = false;
  return {
    url: `postgresql://postgres${password ? `:${password}` : ''}@127.0.0.1:${port}/postgres`,
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
      const keepAs = options.ephemeral ? options.keepAs : undefined;
      // SIGINT closes sessions and writes a checkpoint. Data that is deleted needs no checkpoint.
      await stopProcess(child, options.ephemeral && !keepAs ? 'SIGQUIT' : 'SIGINT', 10_000);
      if (keepAs) await keep(home.dataDir, keepAs);
      if (ephemeralFolder) rmSync(ephemeralFolder, { recursive: true, force: true });
    },
  };
}

/** The password is written last. A cluster without it is incomplete and is created again. */
async function openCluster(home: PostgresInstallation): Promise<string> {
  const passwordPath = join(home.dataDir, 'parley-password');
  if (existsSync(passwordPath)) return readFileSync(passwordPath, 'utf8').trim();
  rmSync(home.dataDir, { recursive: true, force: true });
  makePrivateFolder(home.dataDir, home.account);
  const password = randomBytes(18).toString('base64url');
  await initialize(home, password);
  writeFileSync(passwordPath, password, { mode: 0o600 });
  return password;
}

async function openCopy(home: PostgresInstallation, from: string | undefined): Promise<null> {
  if (from) await run('cp', ['-a', `${from}/.`, home.dataDir]);
  else await initialize(home, null);
  return null;
}

/**
 * The copy is renamed when it is complete, so that no partial copy is used. Of two processes,
 * the first one wins.
 */
async function keep(dataDir: string, keepAs: string): Promise<void> {
  const partial = `${keepAs}.${process.pid}`;
  mkdirSync(dirname(keepAs), { recursive: true });
  await run('cp', ['-a', dataDir, partial]);
  if (existsSync(keepAs)) rmSync(partial, { recursive: true });
  else renameSync(partial, keepAs);
}

/**
 * Uses PostgreSQL's builtin locale C.UTF-8 for case folding, so that searches have the same results
 * on every machine.
 */
async function initialize(home: PostgresInstallation, password: string | null): Promise<void> {
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
  args.push(
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(password ? [] : ['--wal-segsize=1']),
  );
  args.push(
    ...(password ? ['--auth=scram-sha-256', `--pwfile=${passwordFile}`] : ['--auth=trust']),
  );
  try {
    if (password) {
      writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
      if (home.account) chownSync(passwordFile, home.account.uid, home.account.gid);
    }
    await run(join(home.bin, 'initdb'), args, { ...home.account, cwd: '/', env: serverEnv() });
  } catch (error) {
    rmSync(home.dataDir, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL could not create its data folder: ${(error as { stderr?: string }).stderr ?? error}`,
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Stops the server of an earlier run that was killed, and deletes its lock file. */
async function stopLeftover(dataDir: string): Promise<void> {
  const lockFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  if (pid > 1 && processCommand(pid).includes(dataDir)) await stopPid(pid, 'SIGINT', 10_000);
  rmSync(lockFile, { force: true });
}

/**
 * A folder in memory when more than 4 GiB are free there: cloning a database takes a
 * third of the time.
 */
function ephemeralParent(): string {
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
