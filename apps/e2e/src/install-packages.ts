import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { shared } from './stack';

export const root = resolve(__dirname, '../../..');
const run = promisify(execFile);

/** The settings of npm, for commands that run it with another home directory. */
export const npmEnvironment: Record<string, string> = {
  npm_config_cache: join(homedir(), '.npm'),
  npm_config_userconfig: join(homedir(), '.npmrc'),
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^npm_config_|_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(name)
        ? [[name, value]]
        : [],
    ),
  ),
};

/**
 * Does something once in a run of all test files. Files run in parallel: the process that creates
 * the folder does the work, the others wait. Returns the folder.
 */
async function onceInRun(name: string, work: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(shared.packages, name);
  const done = `${folder}.done`;
  while (!existsSync(done)) {
    if (mkdirSync(folder, { recursive: true }) === undefined) {
      await sleep(200);
      continue;
    }
    try {
      await work(folder);
      writeFileSync(done, '');
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }
  return folder;
}

/**
 * Packs packages as they would be published, each once in a run. Returns the paths of the tarballs.
 */
export async function packPackages(...names: string[]): Promise<string[]> {
  const tarballs: string[] = [];
  for (const name of names) {
    const folder = await onceInRun(`packed-${name}`, async (out) => {
      await run(process.execPath, [join(root, 'tools', 'pack.mjs'), '--out', out, name], {
        cwd: root,
      });
    });
    tarballs.push(...readdirSync(folder).map((file) => join(folder, file)));
  }
  return tarballs;
}

/**
 * Installs tarballs into a folder with npm. Without a registry the tarballs are unpacked, with
 * their dependencies linked from this checkout, and a warning is printed. `named`: the folder's
 * package.json already names the tarballs.
 */
export async function installPackages(
  folder: string,
  tarballs: string[],
  { named = false } = {},
): Promise<void> {
  try {
    const wanted = named ? [] : ['--no-save', ...tarballs];
    const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...wanted];
    await run('npm', args, {
      cwd: folder,
      timeout: 120_000,
      env: { ...process.env, npm_config_ignore_scripts: 'true' },
    });
  } catch (error) {
    console.warn(
      `npm could not install the packages; they are unpacked instead: ${String(error).slice(0, 500)}`,
    );
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
    for (const name of ['esbuild', '@esbuild'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    for (const tarball of tarballs) await unpack(folder, tarball);
  }
}

/** Installs the packed command line once in a run. Returns the folder. */
export function installedCommand(): Promise<string> {
  return onceInRun('cli', async (home) => {
    writeFileSync(join(home, 'package.json'), '{"private":true}');
    await installPackages(home, await packPackages('cli'));
  });
}

/** Makes the packed command line available in a folder, by a link. */
export async function installCommand(folder: string): Promise<void> {
  const home = await installedCommand();
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'));
}

async function unpack(folder: string, tarball: string): Promise<void> {
  const target = mkdtempSync(join(folder, 'node_modules', '.unpack-'));
  await run('tar', ['xzf', tarball, '-C', target]);
  const { name, bin = {} } = JSON.parse(
    readFileSync(join(target, 'package', 'package.json'), 'utf8'),
  ) as {
    name: string;
    bin?: Record<string, string>;
  };
  mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
  symlinkSync(join(target, 'package'), join(folder, 'node_modules', name));
  for (const [command, file] of Object.entries(bin)) {
    const start = `#!/bin/sh\nexec node "${join(target, 'package', file)}" "$@"\n`;
    writeFileSync(join(folder, 'node_modules', '.bin', command), start, { mode: 0o755 });
  }
}
