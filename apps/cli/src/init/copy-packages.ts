import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findCheckout } from '../checkout';
import { runQuietly } from './run-installation';

/**
 * The package files that `tools/pack.mjs` creates, by the paths that a project's
 * package.json names.
 */
export const packageFiles = (version: string): Record<string, string> => ({
  '@parley/cli': `packages/parley-cli-${version}.tgz`,
  '@parley/definitions': `packages/parley-definitions-${version}.tgz`,
});

/**
 * Copies the package files into a project, if this command was installed from such files and they
 * still exist: npm records their paths. Returns false when the user has to copy them.
 */
export function copyPackages(project: string, version: string): boolean {
  const files = Object.entries(packageFiles(version)).map(([name, file]) => ({
    source: sourceOf(name),
    target: join(project, file),
  }));
  if (files.every(({ target }) => existsSync(target))) return true;
  if (files.some(({ source }) => source === null)) return false;
  mkdirSync(join(project, 'packages'), { recursive: true });
  for (const { source, target } of files) copyFileSync(source!, target);
  return true;
}

/**
 * Packs the packages into a project when this command runs in a checkout; null when it does not.
 */
export function packPackages(project: string): Promise<void> | null {
  const checkout = findCheckout();
  if (checkout === null) return null;
  const script = join(checkout, 'tools', 'pack.mjs');
  const out = join(project, 'packages');
  return runQuietly(process.execPath, [script, '--out', out, 'cli', 'definitions'], checkout);
}

function sourceOf(name: string): string | null {
  // …/node_modules/@parley/cli/main.cjs, as the package is installed.
  const modules = resolve(__dirname, '..', '..');
  const lock = join(modules, '.package-lock.json');
  if (!existsSync(lock)) return null;
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    packages?: Record<string, { resolved?: string }>;
  };
  const resolved = packages[`node_modules/${name}`]?.resolved;
  const source = resolved?.startsWith('file:')
    ? resolve(modules, '..', resolved.slice('file:'.length))
    : null;
  return source !== null && existsSync(source) ? source : null;
}
