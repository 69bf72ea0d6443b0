import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The files that `tools/pack.mjs` makes, in the folder of a project that its package.json names. */
export const packageFiles = (version: string): Record<string, string> => ({
  '@parley/cli': `packages/parley-cli-${version}.tgz`,
  '@parley/definitions': `packages/parley-definitions-${version}.tgz`,
});

/**
 * Copies the packages into a project where this command was itself installed from such files and they are still there:
 * npm keeps where each came from. False when they are to be brought by hand.
 */
export function copyOwnPackages(project: string, version: string): boolean {
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

function sourceOf(name: string): string | null {
  // …/node_modules/@parley/cli/main.cjs, as the package is installed.
  const modules = resolve(__dirname, '..', '..');
  const lock = join(modules, '.package-lock.json');
  if (!existsSync(lock)) return null;
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    packages?: Record<string, { resolved?: string }>;
  };
  const resolved = packages[`node_modules/${name}`]?.resolved;
  const source = resolved?.startsWith('file:') ? resolve(modules, '..', resolved.slice('file:'.length)) : null;
  return source !== null && existsSync(source) ? source : null;
}
