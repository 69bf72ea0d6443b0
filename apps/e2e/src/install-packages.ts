import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
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

/** Packs packages as they would be published, into a temporary folder. */
export async function packPackages(
  ...names: string[]
): Promise<{ folder: string; tarballs: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-packages-'));
  const script = join(root, 'tools', 'pack.mjs');
  const { stdout } = await run(process.execPath, [script, '--out', folder, ...names], {
    cwd: root,
  });
  return {
    folder,
    tarballs: stdout
      .trim()
      .split('\n')
      .filter((line) => line.endsWith('.tgz')),
  };
}

/**
 * Installs tarballs into a folder with npm. Without a registry the tarballs are unpacked, with their dependencies linked
 * from this checkout, and a warning is printed. `named`: the folder's package.json already names the tarballs.
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

/** Makes the packed command line available in a folder. It is installed once in a run; the folder gets a link to it. */
export async function installCommand(folder: string): Promise<void> {
  const home = join(shared.packages, 'cli');
  const done = join(shared.packages, 'cli-is-installed');
  while (!existsSync(done)) {
    // Test files run in parallel: the process that creates the folder installs into it, the others wait.
    if (mkdirSync(home, { recursive: true }) === undefined) {
      await sleep(200);
      continue;
    }
    try {
      const packed = await packPackages('cli');
      writeFileSync(join(home, 'package.json'), '{"private":true}');
      await installPackages(home, packed.tarballs);
      rmSync(packed.folder, { recursive: true, force: true });
      writeFileSync(done, '');
    } catch (error) {
      rmSync(home, { recursive: true, force: true });
      throw error;
    }
  }
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
