import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Imports TypeScript of the repository by bundling it first (20 ms). The bundle's name carries the process id, as two
 * commands may do so at once.
 * @param {string} contents a module in TypeScript, as if it lay in the root
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
export const loadEmbedded = () => loadTypescript("export * from './libs/embedded/src/index'", 'embedded');

/** @returns {Promise<typeof import('../../libs/db/src/migrate')>} */
export const loadMigrate = () => loadTypescript("export * from './libs/db/src/migrate'", 'migrate');

/** @returns {Promise<typeof import('../../libs/db/src/testing/partition')>} */
export const loadPartition = () => loadTypescript("export * from './libs/db/src/testing/partition'", 'partition');

/** @returns {Promise<typeof import('../../libs/testing/src/index')>} */
export const loadTesting = () => loadTypescript("export * from './libs/testing/src/index'", 'testing');
