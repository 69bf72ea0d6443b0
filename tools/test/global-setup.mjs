import { build } from 'esbuild';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';
import { ensureGenerated } from '../start/prisma.mjs';
import { startTestServers } from './servers.mjs';

/**
 * Starts one PostgreSQL and one Redis for this jest run, unless `npm test` has started them, and
 * creates the folder in which processes record the statements that they run (libs/db
 * note-statements).
 */
export default async function globalSetup(_config, { displayName }) {
  const isPartitioned = process.env.PARLEY_TEST_PARTITIONS === 'true';
  const statements = join(
    root,
    'dist',
    'statements',
    displayName.name + (isPartitioned ? '-partitioned' : ''),
  );
  rmSync(statements, { recursive: true, force: true });
  mkdirSync(statements, { recursive: true });
  process.env.PARLEY_TEST_STATEMENTS = statements;
  process.env.PARLEY_TEST_PRELOAD = await bundleObserver(statements);
  if (process.env.PARLEY_TEST_TEMPLATE) return;
  await ensureGenerated();
  const servers = await startTestServers();
  Object.assign(process.env, servers.env);
  globalThis.parleyTestServers = servers;
}

/**
 * The module that services and commands load before their own code, so that their statements are
 * checked, too.
 */
async function bundleObserver(folder) {
  const outfile = join(folder, 'observe-process.cjs');
  await build({
    entryPoints: [join(root, 'libs/db/src/testing/observe-process.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    packages: 'external',
  });
  return outfile;
}
