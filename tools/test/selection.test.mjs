import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { commandsOf, layers, select } from './selection.mjs';

test('without arguments every layer runs, and the long run adds the partitioned one', () => {
  assert.deepEqual(select([]).targets, Object.values(layers).flat());
  assert.deepEqual(select([]).projects, null);
  const long = select(['--long']);
  assert.deepEqual([long.isLong, long.targets.at(-1)], [true, 'test-partitioned']);
});

test('a layer has its targets, and an unknown one is refused with their names', () => {
  assert.deepEqual(select(['--layer=browser']).targets, ['e2e-browser']);
  assert.throws(
    () => select(['--layer=slow']),
    /No layer is named slow\. Available: unit, integration, browser\./,
  );
});

test('a part of a folder name selects projects, with a lint of their own, and keeps the options of Nx', () => {
  const { projects, targets, nxOptions } = select(['entitie', '--skip-nx-cache']);
  assert.deepEqual(projects, ['entities']);
  assert.ok(targets.includes('lint'));
  assert.deepEqual(nxOptions, ['--skip-nx-cache']);
  assert.throws(() => select(['nothing']), /No project matches nothing\. Available: .*entities/);
});

test('files run with the configuration of their project, and those of tools with the runner of Node.js', () => {
  const files = [
    'libs/db/src/id.test.ts',
    'libs/db/src/migrate.test.ts',
    'apps/e2e/src/browser/frame.test.ts',
    'tools/test/tally.test.mjs',
  ];
  const commands = commandsOf(select(files).files);
  assert.deepEqual(
    commands.map(({ name, args }) => [name, args.slice(-3)]),
    [
      ['db:file', ['--runTestsByPath', ...files.slice(0, 2)]],
      ['e2e-browser:file', ['apps/e2e/jest.browser.config.cjs', '--runTestsByPath', files[2]]],
      ['bootstrap:file', ['--test', '--test-reporter=spec', files[3]]],
    ],
  );
  assert.ok(commands.slice(0, 2).every(({ args }) => existsSync(join(root, args[2]))));
  assert.throws(
    () => commandsOf(['libs/db/src/none.test.ts']),
    /libs\/db\/src\/none\.test\.ts does not exist/,
  );
});
