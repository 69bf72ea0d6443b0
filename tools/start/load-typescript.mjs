import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Imports a TypeScript file of the repository by bundling it first (20 ms). The bundle's name carries the process id, as
 * two commands may do so at once.
 */
async function loadTypescript(file, name) {
  const { build } = await import('esbuild');
  const outfile = join(root, 'dist', 'tools', `${name}-${process.pid}.cjs`);
  mkdirSync(join(root, 'dist', 'tools'), { recursive: true });
  await build({
    entryPoints: [join(root, file)],
    outfile,
    bundle: true,
    packages: 'external',
    tsconfig: join(root, 'tsconfig.base.json'),
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    logLevel: 'silent',
  });
  const loaded = await import(pathToFileURL(outfile).href);
  rmSync(outfile, { force: true });
  return loaded.default;
}

/** @returns {Promise<typeof import('../../libs/embedded/src/index')>} */
export const loadEmbedded = () => loadTypescript('libs/embedded/src/index.ts', 'embedded');

/** @returns {Promise<typeof import('../../libs/db/src/migrate')>} */
export const loadMigrate = () => loadTypescript('libs/db/src/migrate.ts', 'migrate');

/** @returns {Promise<typeof import('../../libs/testing/src/index')>} */
export const loadTesting = () => loadTypescript('libs/testing/src/index.ts', 'testing');
