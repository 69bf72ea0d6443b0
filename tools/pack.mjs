// node tools/pack.mjs [--out folder] [client | widget | definitions | cli …]: builds npm
// packages (default: all) and writes their tarballs to a folder (default: dist/packages). Prints
// one path per line.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOptions } from './build.mjs';
import { bundleDeclarations } from './pack/declarations.mjs';
import { Problem, runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';
import { ensureGenerated } from './start/prisma.mjs';

const { version, license, dependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const engines = { node: '>=20.19' };

/** An entry point: ESM and CommonJS, each with its own declarations. */
const entryPoint = (name) => ({
  import: { types: `./${name}.d.mts`, default: `./${name}.mjs` },
  require: { types: `./${name}.d.cts`, default: `./${name}.cjs` },
});

/** The manifest of a library. */
const library = {
  exports: { '.': entryPoint('index'), './package.json': './package.json' },
  main: './index.cjs',
  module: './index.mjs',
  types: './index.d.cts',
  sideEffects: false,
};

/** Packages that are not bundled into the CLI: a program. */
const cliPackages = ['esbuild'];
const pick = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));

const packages = {
  client: {
    description: 'Typed client of Parley for Node.js and browsers, without dependencies.',
    manifest: {
      ...library,
      exports: { ...library.exports, './manage': entryPoint('manage') },
      // For moduleResolution node10, which does not read exports.
      typesVersions: { '*': { manage: ['./manage.d.cts'] } },
      engines: { node: '>=20' },
    },
    readme: 'docs/client.md',
    build: (folder) =>
      buildLibrary('client', folder, { platform: 'neutral', target: 'es2022' }, [
        'index',
        'manage',
      ]),
  },
  widget: {
    description: 'The chat of Parley for websites: the custom element <parley-chat>.',
    manifest: { ...library, sideEffects: true },
    readme: 'docs/widget.md',
    build: (folder) => buildLibrary('widget', folder, { platform: 'browser', target: 'es2022' }),
  },
  definitions: {
    description: 'Agents, entity types, roles, tools, routers and triggers of Parley as code.',
    manifest: { ...library, engines },
    readme: 'docs/cli.md',
    build: (folder) => buildLibrary('definitions', folder, { platform: 'node', target: 'node20' }),
  },
  cli: {
    description: 'The parley command: configuration as code and operations.',
    manifest: {
      bin: { parley: 'main.cjs' },
      engines,
      dependencies: pick(dependencies, cliPackages),
    },
    readme: 'docs/cli.md',
    build: buildCli,
  },
};

async function buildLibrary(lib, folder, options, entries = ['index']) {
  const esbuild = await import('esbuild');
  for (const [format, extension] of [
    ['esm', '.mjs'],
    ['cjs', '.cjs'],
  ]) {
    await esbuild.build({
      entryPoints: entries.map((name) => join(root, 'libs', lib, 'src', `${name}.ts`)),
      outdir: folder,
      outExtension: { '.js': extension },
      bundle: true,
      minify: true,
      format,
      tsconfig: join(root, 'tsconfig.base.json'),
      logLevel: 'warning',
      ...options,
    });
  }
  for (const name of entries) {
    const written = join(root, 'libs', lib, 'package.d.ts');
    const declarations = existsSync(written)
      ? readFileSync(written, 'utf8')
      : await bundleDeclarations(lib, name);
    for (const extension of ['d.mts', 'd.cts'])
      writeFileSync(join(folder, `${name}.${extension}`), declarations);
  }
}

/**
 * Bundles the CLI into one file, except esbuild, which has a binary, and the engine of
 * `parley migrate`.
 */
async function buildCli(folder) {
  await ensureGenerated();
  const esbuild = await import('esbuild');
  await esbuild.build({
    ...buildOptions([], { standalone: true, outdir: folder }),
    entryPoints: { main: join(root, 'apps', 'cli', 'src', 'main.ts') },
    external: [...cliPackages, 'pg-native'],
    banner: { js: '#!/usr/bin/env node' },
    footer: {},
    target: 'node20',
    minify: true,
    sourcemap: false,
  });
  // `parley migrate` applies them, and every command that uses the database compares its
  // schema with them.
  cpSync(join(root, 'prisma', 'migrations'), join(folder, 'prisma', 'migrations'), {
    recursive: true,
  });
}

/** @returns {Promise<string>} the path of the tarball */
export async function pack(name, out) {
  const { description, manifest, readme, build } = packages[name];
  const folder = join(root, 'dist', 'packages', `${name}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  mkdirSync(out, { recursive: true });
  try {
    await build(folder);
    const about = {
      name: `@parley/${name}`,
      version,
      description,
      license,
      publishConfig: { access: 'public' },
    };
    writeFileSync(
      join(folder, 'package.json'),
      `${JSON.stringify({ ...about, ...manifest }, null, 2)}\n`,
    );
    copyFileSync(join(root, readme), join(folder, 'README.md'));
    if (existsSync(join(root, 'LICENSE')))
      copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const printed = execFileSync('npm', ['pack', '--json', '--pack-destination', out], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return join(out, JSON.parse(printed)[0].filename.replace('@', '').replace('/', '-'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const args = process.argv.slice(2);
  const at = args.indexOf('--out');
  const out = resolve(at === -1 ? join(root, 'dist', 'packages') : args.splice(at, 2)[1]);
  const unknown = args.filter((name) => !(name in packages));
  if (unknown.length > 0)
    throw new Problem(
      `Unknown package: ${unknown.join(', ')}. Available: ${Object.keys(packages).join(', ')}.`,
    );
  for (const name of args.length > 0 ? args : Object.keys(packages))
    process.stdout.write(`${await pack(name, out)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main);
