import { build } from 'esbuild';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildOptions } from '../../tools/build.mjs';
import { root } from '../../tools/start/paths.mjs';
import setUpServers from '../../tools/test/global-setup.mjs';

/**
 * Builds the command once for the tests that start it as a process. The bundle is written beside
 * dist/apps, which other test runs and `npm start` may be using.
 */
export default async function globalSetup(config, project) {
  await setUpServers(config, project);
  const outdir = join(root, 'dist', `cli-test-${process.pid}`);
  const options = buildOptions(['cli'], { outdir });
  await build(options);
  process.env.PARLEY_TEST_CLI = join(outdir, 'cli', 'main.cjs');
  globalThis.parleyTestCli = { remove: () => rmSync(outdir, { recursive: true, force: true }) };
}
