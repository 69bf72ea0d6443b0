import assert from 'node:assert/strict';
import { test } from 'node:test';
import esbuild from 'esbuild';
import { buildOptions, childBuildOptions, deployedApps } from './build.mjs';

/** Bundles two modules whose names collide, and returns the text of the program. */
async function bundled(options) {
  const modules = {
    first: `export class Same extends Error {}; export const make = () => { const named = () => {}; return named; };`,
    second: `export class Same {}; export function make() { return class Inner {}; }`,
  };
  const { outputFiles } = await esbuild.build({
    ...buildOptions([], options),
    stdin: {
      contents: `import * as first from 'first'; import * as second from 'second';
        globalThis.report = () => [first.Same.name, second.Same.name, second.make().name, first.make().length];`,
    },
    entryPoints: undefined,
    write: false,
    sourcemap: false,
    minifyWhitespace: options.standalone,
    minifySyntax: options.standalone,
    plugins: [
      {
        name: 'modules',
        setup(build) {
          build.onResolve({ filter: /^(first|second)$/ }, ({ path }) => ({
            path,
            namespace: 'modules',
          }));
          build.onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => ({
            contents: modules[path],
          }));
        },
      },
    ],
  });
  return outputFiles[0].text;
}

for (const standalone of [false, true])
  test(`classes keep their names in a bundle, also when they collide (${standalone ? 'image' : 'npm start'})`, async () => {
    const text = await bundled({ standalone });
    assert.match(text, /Same2/);
    let defined = 0;
    const defineProperty = (...all) => ((defined += 1), Object.defineProperty(...all));
    const observed = Object.create(Object, { defineProperty: { value: defineProperty } });
    const scope = { process: { on() {} }, Object: observed, globalThis: {} };
    new Function(...Object.keys(scope), text)(...Object.values(scope));
    assert.deepEqual(scope.globalThis.report(), ['Same', 'Same', 'Inner', 0]);
    const before = defined;
    scope.globalThis.report();
    // The class is named again, the arrow function is not.
    assert.equal(defined - before, 1);
  });

for (const [name, options] of [
  ['services', buildOptions(deployedApps())],
  ['child processes', childBuildOptions(deployedApps())],
])
  test(`bundles of ${name} contain no code of tests`, async () => {
    const { metafile } = await esbuild.build({ ...options, write: false, metafile: true });
    const inputs = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
    assert.ok(inputs.some((path) => path.startsWith('apps/')));
    assert.deepEqual(
      inputs.filter((path) => /(^|\/)testing(\/|\.)|\.test\.|^libs\/embedded\//.test(path)),
      [],
    );
  });
