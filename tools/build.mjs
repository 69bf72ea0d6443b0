// node tools/build.mjs [--standalone] [app…]: bundles apps/<app>/src/main.ts into
// dist/apps/<app>/main.cjs.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildConsole } from './build-console.mjs';
import { Problem, runMain, step } from './start/output.mjs';
import { root } from './start/paths.mjs';
import { ensureGenerated } from './start/prisma.mjs';

/** All apps with a main.ts. */
export function buildableApps() {
  return readdirSync(join(root, 'apps')).filter((app) =>
    existsSync(join(root, 'apps', app, 'src', 'main.ts')),
  );
}

/**
 * The apps that are deployed. The stand-ins of providers only run in development (docs/adr/0049).
 */
export const deployedApps = () => buildableApps().filter((app) => app !== 'stand-ins');

/**
 * The first line of each process. Process 1 of a container ignores SIGTERM while it has no
 * listener, so a process that still loads its code, or waits for PostgreSQL, would run until it is
 * killed at the end of the grace period. This listener does nothing when there is another one,
 * which shuts down in order. esbuild's own "use strict" has no effect after it.
 */
const firstLine =
  '"use strict";process.on("SIGTERM",()=>{if(process.listenerCount("SIGTERM")===1)process.exit(143)});';

/**
 * The last line of each process. esbuild may rename classes and functions, and with `keepNames`
 * gives them their names again whenever they are created: packages compare names of classes. Arrow
 * functions, which have no `prototype`, stay without a name: setting it took a third of a request's
 * time (docs/adr/0079).
 */
const lastLine =
  'if(typeof __name==="function")__name=(set=>(target,name)=>target.prototype===undefined?target:set(target,name))(__name);';

/**
 * Options of esbuild for these apps. Packages are not bundled, which is ten times faster, except
 * with `standalone`, for images without node_modules.
 * @param {string[]} apps
 * @returns {import('esbuild').BuildOptions}
 */
export function buildOptions(
  apps,
  { standalone = false, outdir = join(root, 'dist', 'apps') } = {},
) {
  return {
    absWorkingDir: root,
    entryPoints: Object.fromEntries(apps.flatMap((app) => entriesOf(app, /^main\.ts$/))),
    outdir,
    outExtension: { '.js': '.cjs' },
    banner: { js: firstLine },
    footer: { js: lastLine },
    bundle: true,
    packages: standalone ? 'bundle' : 'external',
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    sourcemap: true,
    keepNames: true,
    tsconfig: join(root, 'tsconfig.base.json'),
    logLevel: 'silent',
    plugins: [embeddedPrograms],
  };
}

/**
 * Programs that bundles contain as text, so that they do not depend on a file beside the bundle:
 * the name that the module exports, the file of the program, and how it is bundled.
 */
const embedded = [
  {
    // The threads that check schemas.
    filter: /schemas\/thread-program\.ts$/,
    name: 'threadProgram',
    valueOf: (text) => ({ text }),
    file: (module) => join(module, '../check-schema.ts'),
    options: () => ({ ...childBuildOptions([]), target: 'node20' }),
  },
  {
    // The chat for websites, which the gateway serves.
    filter: /gateway\/src\/widget\/script\.ts$/,
    name: 'widgetScript',
    valueOf: (text) => text,
    file: () => join(root, 'libs', 'widget', 'src', 'index.ts'),
    options: () => widgetBuildOptions,
  },
];

/** @type {import('esbuild').BuildOptions} */
const widgetBuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
  tsconfig: join(root, 'tsconfig.base.json'),
  logLevel: 'silent',
};

/** @type {import('esbuild').Plugin} */
export const embeddedPrograms = {
  name: 'embedded programs',
  setup(build) {
    for (const { filter, name, valueOf, file: fileOf, options } of embedded)
      build.onLoad({ filter }, async ({ path }) => {
        const file = fileOf(path);
        const { outputFiles, metafile } = await build.esbuild.build({
          ...options(),
          entryPoints: [file],
          write: false,
          metafile: true,
        });
        const text = JSON.stringify(valueOf(outputFiles[0].text));
        const watchFiles = Object.keys(metafile.inputs).map((input) => join(root, input));
        return { contents: `export const ${name} = ${text};`, loader: 'js', watchFiles };
      });
  },
};

/**
 * Options for `src/*-process.ts` of an app: child processes that may not read other files. Packages
 * and WebAssembly are always bundled. Code is minified, because some of it is passed on as text and
 * parsed at each start; names are not changed.
 * @param {string[]} apps
 * @returns {import('esbuild').BuildOptions}
 */
export function childBuildOptions(apps, options = {}) {
  return {
    ...buildOptions([], options),
    entryPoints: Object.fromEntries(apps.flatMap((app) => entriesOf(app, /-process\.ts$/))),
    banner: {},
    footer: {},
    packages: 'bundle',
    loader: { '.wasm': 'binary' },
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: false,
    sourcemap: false,
  };
}

function entriesOf(app, pattern) {
  const folder = join(root, 'apps', app, 'src');
  return readdirSync(folder)
    .filter((file) => pattern.test(file))
    .map((file) => [`${app}/${file.slice(0, -'.ts'.length)}`, join(folder, file)]);
}

/** Bundles the apps (all by default). Throws a Problem with esbuild's messages. */
export async function build(apps = buildableApps(), options = {}) {
  await ensureGenerated();
  const esbuild = await import('esbuild');
  try {
    await Promise.all([
      esbuild.build(buildOptions(apps, options)),
      esbuild.build(childBuildOptions(apps, options)),
    ]);
  } catch (error) {
    if (!error.errors) throw error;
    const messages = await esbuild.formatMessages(error.errors, { kind: 'error', color: false });
    throw new Problem(`The build failed:\n${messages.join('').trim()}`);
  }
}

async function main() {
  const args = process.argv.slice(2);
  const known = buildableApps();
  const apps = args.filter((arg) => !arg.startsWith('-'));
  const unknown = apps.filter((app) => !known.includes(app));
  if (unknown.length > 0)
    throw new Problem(`Unknown app: ${unknown.join(', ')}. Available: ${known.join(', ')}.`);
  const chosen = apps.length > 0 ? apps : known;
  await step(`Building ${chosen.join(', ')}`, () =>
    build(chosen, { standalone: args.includes('--standalone') }),
  );
  if (chosen.includes('gateway')) await step('Building the console', () => buildConsole());
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main);
