// node tools/build-images.mjs <folder>: writes the files of each app's image (docker/Dockerfile)
// to <folder>/<app>.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployedApps, buildOptions, childBuildOptions, embeddedPrograms } from './build.mjs';
import { buildConsole } from './build-console.mjs';
import { listPackages, thirdPartyNotices } from './bundled-packages.mjs';
import { Problem, runMain, print } from './start/output.mjs';
import { root } from './start/paths.mjs';
import { ensureGenerated } from './start/prisma.mjs';

/** Packages that cannot be bundled, because they contain a program. Only the CLI uses them. */
const unbundled = ['esbuild'];
/**
 * Maximum number of packages in one image. An image with more has probably bundled one by mistake.
 */
const maxPackages = 150;
/** Licences that only require attribution (CONTRIBUTING.md). */
const licences = /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)$/;
const withoutDatabase = ['gateway', 'tool-executor'];

/**
 * Writes the files of one app's image.
 * @returns {Promise<ReturnType<typeof listPackages>>} the packages in it
 */
export async function buildApp(app, outdir) {
  const esbuild = await import('esbuild');
  const options = { standalone: true, outdir };
  const image = {
    sourcemap: false,
    // V8 keeps the text of a program. With the comments of packages it has characters that take two
    // bytes each in the whole file.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none', // THIRD_PARTY_NOTICES.txt
    lineLimit: 160, // so that the lines of a stack trace say something
    metafile: true,
    external: unbundled,
    plugins: [dropUnusedModules, embeddedPrograms],
  };
  const results = [
    await esbuild.build({ ...buildOptions([app], options), ...image }),
    await esbuild.build({ ...childBuildOptions([app], options), ...image }),
  ];
  const folder = join(outdir, app);
  copy('docker/health.cjs', join(folder, 'health.cjs'));
  if (!withoutDatabase.includes(app))
    copy('prisma/migrations', join(folder, 'prisma', 'migrations'));
  const copied = app === 'cli' ? addCliFiles(folder) : [];
  const console = app === 'gateway' ? await buildConsole(join(folder, 'console')) : [];

  const inputs = results.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(bundledInputs),
  );
  const packages = listPackages([
    ...inputs,
    ...console,
    ...copied.map((name) => `node_modules/${name}/package.json`),
  ]);
  if (packages.length > maxPackages)
    throw new Problem(
      `${app} has ${packages.length} packages. Remove some, or raise maxPackages (${maxPackages}).`,
    );
  const refused = packages.filter(({ license }) => !licences.test(license));
  if (refused.length > 0)
    throw new Problem(
      `Packages of ${app} have licences that are not accepted: ` +
        refused.map(({ name, license }) => `${name} (${license})`).join(', '),
    );
  writeFileSync(join(folder, 'packages.json'), `${JSON.stringify(packages, null, 2)}\n`);
  writeFileSync(join(folder, 'THIRD_PARTY_NOTICES.txt'), thirdPartyNotices(packages));
  return packages;
}

/**
 * Marks our modules as free of side effects, so that unused ones are dropped with their packages:
 * the worker contains no Express and the gateway no Prisma.
 * @type {import('esbuild').Plugin}
 */
const dropUnusedModules = {
  name: 'drop unused modules',
  setup(build) {
    build.onResolve(
      { filter: /^(@parley\/|\.)/ },
      async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (
          pluginData === 'resolving' ||
          kind === 'entry-point' ||
          importer.includes('node_modules')
        )
          return undefined;
        const resolved = await build.resolve(path, {
          importer,
          resolveDir,
          kind,
          pluginData: 'resolving',
        });
        return resolved.errors.length > 0 ? resolved : { path: resolved.path, sideEffects: false };
      },
    );
  },
};

const bundledInputs = ({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));

/** The CLI's image also creates the secrets and the demo of a compose stack. */
function addCliFiles(folder) {
  for (const file of ['make-secrets.mjs', 'demo.mjs'])
    copy(join('docker', file), join(folder, file));
  for (const file of ['banner.mjs', 'demo-page.mjs', 'output.mjs'])
    copy(join('tools', 'start', file), join(folder, 'start', file));
  const names = [...unbundled, join('@esbuild', `${process.platform}-${process.arch}`)];
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
  if (!outdir) throw new Problem('Usage: node tools/build-images.mjs <folder>');
  await ensureGenerated();
  // Apps are built one after the other, because parallel builds need a gigabyte of memory.
  for (const app of deployedApps()) {
    const packages = await buildApp(app, outdir);
    print(`${app.padEnd(16)} ${String(packages.length).padStart(4)} packages`);
  }
}
