import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import packages from './redis-packages.json';

const run = promisify(execFile);
/**
 * `usualFolders` are searched after PATH, because the PATH of a service often does not contain
 * them. A failed update of apt-get is ignored: one broken source is enough for it.
 * tools/start/redis.mjs reads this file too.
 */
const { usualFolders, managers } = packages;
type Manager = (typeof managers)[number];

/**
 * Returns the path of a `redis-server`. When PATH has none, installs it with the system's package
 * manager, if that works without a prompt (as root, or with sudo without a password). Otherwise
 * throws an error that says what to do.
 */
export async function findOrInstallRedis(
  log: (line: string) => void = () => undefined,
): Promise<string> {
  const present = findProgram('redis-server');
  if (present) return present;

  const manager = managers.find((candidate) => findProgram(candidate.program));
  if (!manager)
    throw new Error('redis-server is not on PATH. Install Redis 7 or newer, or set REDIS_URL.');
  const shown = manager.commands.at(-1)?.join(' ') ?? '';
  const prefix = manager.needsRoot ? await rootPrefix() : [];
  if (!prefix)
    throw new Error(`redis-server is not on PATH. Run "sudo ${plain(shown)}", or set REDIS_URL.`);

  log(`redis-server is not on PATH: installing it with ${manager.program}`);
  const lastFailure = await runAll(manager, prefix);
  const installed = findProgram('redis-server');
  if (installed) return installed;
  throw new Error(
    `redis-server could not be installed (${plain(shown)}): ${lastFailure}\nInstall it, or set REDIS_URL.`,
  );
}

async function runAll(manager: Manager, prefix: string[]): Promise<string> {
  let lastFailure = 'redis-server is still not on PATH';
  for (const command of manager.commands) {
    const [program = '', ...args] = [...prefix, ...command];
    try {
      await run(findProgram(program) ?? program, args, {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        timeout: 300_000,
      });
    } catch (error) {
      lastFailure = String((error as { stderr?: string }).stderr || error).trim();
    }
  }
  return lastFailure;
}

/** The prefix of a command that runs it as root without a prompt; null when there is none. */
async function rootPrefix(): Promise<string[] | null> {
  if (process.getuid?.() === 0) return [];
  if (!findProgram('sudo')) return null;
  return run('sudo', ['-n', 'true']).then(
    () => ['sudo', '-n', '--preserve-env=DEBIAN_FRONTEND'],
    () => null,
  );
}

function findProgram(name: string): string | null {
  return (
    [...(process.env.PATH ?? '').split(delimiter), ...usualFolders]
      .filter(Boolean)
      .map((folder) => join(folder, name))
      .find(isExecutable) ?? null
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function plain(command: string): string {
  return command.replace(/ -o \S+| -qq?| --no-install-recommends/g, '');
}
