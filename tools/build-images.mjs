// node tools/build-images.mjs <folder>: makes <folder>/<app> as it lies in an image (docker/Dockerfile), for every app.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildableApps, buildOptions, childBuildOptions } from './build.mjs';
import { listPackages, thirdPartyNotices } from './bundled-packages.mjs';
import { Problem, runMain, say } from './start/output.mjs';
import { root } from './start/paths.mjs';
import { ensureGenerated } from './start/prisma.mjs';

/** Packages that cannot live in a bundle: a program and a WebAssembly file. Only the CLI uses them. */
const outside = ['esbuild', '@prisma/schema-engine-wasm'];
/** What an image may hold at most; more is a mistake or needs a reason. */
const mostPackages = 150;
/** Those that ask for no more than to be named (CONTRIBUTING.md). */
const licences = /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)$/;
const withoutDatabase = ['gateway', 'tool-executor'];

/**
 * One app as its image holds it.
 * @returns {Promise<ReturnType<typeof listPackages>>} the packages inside
 */
export async function buildApp(app, outdir) {
  const esbuild = await import('esbuild');
  const options = { standalone: true, outdir };
  const image = { sourcemap: false, metafile: true, external: outside, plugins: [onlyWhatIsUsed] };
  const results = [
    await esbuild.build({ ...buildOptions([app], options), ...image }),
    await esbuild.build({ ...childBuildOptions([app], options), ...image }),
  ];
  const folder = join(outdir, app);
  copy('docker/health.cjs', join(folder, 'health.cjs'));
  if (!withoutDatabase.includes(app)) copy('prisma/migrations', join(folder, 'prisma', 'migrations'));
  const beside = app === 'cli' ? addCliFiles(folder) : [];

  const inputs = results.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(bundledInputs));
  const packages = listPackages([...inputs, ...beside.map((name) => `node_modules/${name}/package.json`)]);
  if (packages.length > mostPackages)
    throw new Problem(`${app} holds ${packages.length} packages, over ${mostPackages}`);
  const refused = packages.filter(({ license }) => !licences.test(license));
  if (refused.length > 0)
    throw new Problem(`${app}: ${refused.map(({ name, license }) => `${name} is under ${license}`).join(', ')}`);
  writeFileSync(join(folder, 'packages.json'), `${JSON.stringify(packages, null, 2)}\n`);
  writeFileSync(join(folder, 'THIRD_PARTY_NOTICES.txt'), thirdPartyNotices(packages));
  return packages;
}

/**
 * No module of ours does anything when it is imported, so one that nobody uses is left out, with its packages: the
 * worker has no Express and the gateway no Prisma.
 * @type {import('esbuild').Plugin}
 */
const onlyWhatIsUsed = {
  name: 'only what is used',
  setup(build) {
    build.onResolve({ filter: /^(@parley\/|\.)/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === 'resolving' || kind === 'entry-point' || importer.includes('node_modules')) return undefined;
      const resolved = await build.resolve(path, { importer, resolveDir, kind, pluginData: 'resolving' });
      return resolved.errors.length > 0 ? resolved : { path: resolved.path, sideEffects: false };
    });
  },
};

const bundledInputs = ({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));

/** The CLI's image also prepares a compose stack: its secrets, its demo. */
function addCliFiles(folder) {
  for (const file of ['make-secrets.mjs', 'demo.mjs']) copy(join('docker', file), join(folder, file));
  for (const file of ['banner.mjs', 'output.mjs']) copy(join('tools', 'start', file), join(folder, 'start', file));
  const names = [...outside, join('@esbuild', `${process.platform}-${process.arch}`)];
  for (const name of names) copy(join('node_modules', name), join(folder, 'node_modules', name));
  return names;
}

function copy(from, to) {
  mkdirSync(join(to, '..'), { recursive: true });
  cpSync(join(root, from), to, { recursive: true });
}

if (process.argv[1] === import.meta.filename) await runMain(buildAll);

async function buildAll() {
  const [outdir] = process.argv.slice(2);
  if (!outdir) throw new Problem('Which folder? node tools/build-images.mjs <folder>');
  await ensureGenerated();
  // One after the other: together they would need a gigabyte.
  for (const app of buildableApps()) {
    const packages = await buildApp(app, outdir);
    say(`${app.padEnd(16)} ${String(packages.length).padStart(4)} packages`);
  }
}
