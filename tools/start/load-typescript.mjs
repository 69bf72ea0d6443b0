import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Bundles TypeScript of the repository (20 ms) and imports the bundle. Its name contains the
 * process id, because two commands may do this at the same time.
 * @param {string} contents a TypeScript module; imports are resolved from the root
 */
export async function loadTypescript(contents, name) {
  const { build } = await import('esbuild');
  const outfile = join(root, 'dist', 'tools', `${name}-${process.pid}.cjs`);
  mkdirSync(join(root, 'dist', 'tools'), { recursive: true });
  await build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    packages: 'external',
    tsconfig: join(root, 'tsconfig.base.json'),
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    logLevel: 'silent',
  });
  try {
    return (await import(pathToFileURL(outfile).href)).default;
  } finally {
    rmSync(outfile, { force: true });
  }
}

/** @returns {Promise<typeof import('../../libs/embedded/src/index')>} */
export const loadEmbedded = () =>
  loadTypescript("export * from './libs/embedded/src/index'", 'embedded');

/** @returns {Promise<typeof import('../../libs/db/src/migrate')>} */
export const loadMigrate = () => loadTypescript("export * from './libs/db/src/migrate'", 'migrate');

/** @returns {Promise<typeof import('../../libs/db/src/testing/partition')>} */
export const loadPartition = () =>
  loadTypescript("export * from './libs/db/src/testing/partition'", 'partition');

/** @returns {Promise<typeof import('../../libs/testing/src/index')>} */
export const loadTesting = () =>
  loadTypescript("export * from './libs/testing/src/index'", 'testing');
