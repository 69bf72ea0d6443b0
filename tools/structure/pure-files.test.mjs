// The logic of the console and of the chat for websites is tested in Node: a browser is too slow
// for its hardest inputs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles } from './files.mjs';
import { pureFiles, untestedFiles } from './pure-files.mjs';

/** Files without a test of their own, each with the reason. */
const exceptions = {
  'apps/console/src/screens/data/import/save-refused.ts':
    'saves with the browser; what it saves is refused-csv.ts',
  'libs/widget/src/elements.ts': 'only makes elements',
  'libs/widget/src/markdown.ts': 'only makes elements of what parse-markdown.ts reads',
};

const files = readFiles('apps/console/src/*.ts', 'apps/console/src/*.tsx', 'libs/widget/src/*.ts');

test('each file of logic without React or a page has a test beside it', () => {
  const untested = untestedFiles(files);
  assert.deepEqual(
    untested.filter((path) => !Object.hasOwn(exceptions, path)),
    [],
    'write NAME.test.ts beside it, or move what needs the page out of it',
  );
  assert.deepEqual(
    Object.keys(exceptions).filter((path) => !untested.includes(path)),
    [],
    'no exceptions any more',
  );
});

test('the check sees the logic of both projects', () => {
  const pure = pureFiles(files);
  for (const path of ['apps/console/src/screens/data/search.ts', 'libs/widget/src/session.ts'])
    assert.ok(pure.includes(path), path);
});

const isPure = (text, path = 'a/one.ts', others = []) =>
  pureFiles([{ path, text }, ...others.map((other) => ({ path: other, text: '' }))]).includes(path);

test('a file that exports a function or a class is logic', () => {
  assert.ok(isPure('export function run() {}'));
  assert.ok(isPure('export const run = () => 1;'));
  assert.ok(isPure('export const run = async function () {};'));
  assert.ok(isPure('export class Run {}'));
  assert.ok(isPure("import { useQuery } from '@parley/client';\nexport const run = () => 1;"));
});

test('a file of types, constants or texts is not', () => {
  assert.ok(!isPure('export interface Run {}\nexport type Runs = () => void;'));
  assert.ok(!isPure('export const maxRuns = 4;'));
  assert.ok(!isPure('const run = () => 1;'));
  assert.ok(!isPure('export const run = () => 1;', 'a/texts.ts'));
  assert.ok(!isPure('export const run = () => 1;', 'a/composer-texts.ts'));
  assert.ok(!isPure('export const run = () => 1;', 'a/texts/common.ts'));
  assert.ok(!isPure('export const run = () => 1;', 'a/testing/answers.ts'));
  assert.ok(!isPure('export const run = () => 1;', 'a/one.tsx'));
  assert.ok(!isPure('export const useRun = () => 1;', 'a/use-run.ts'));
});

test('a file with a hook or a component is not', () => {
  assert.ok(!isPure("import { useState } from 'react';\nexport const useRun = () => useState(1);"));
  assert.ok(
    !isPure(
      "import { useQuery } from '@tanstack/react-query';\nexport const useRun = () => useQuery();",
    ),
  );
  assert.ok(
    !isPure("import { Part } from './part';\nexport const run = () => Part;", 'a/one.ts', [
      'a/part.tsx',
    ]),
  );
  assert.ok(
    isPure("import { part } from './part';\nexport const run = () => part;", 'a/one.ts', [
      'a/part.ts',
    ]),
  );
  assert.ok(
    isPure("import type { Part } from './part';\nexport const run = () => 1;", 'a/one.ts', [
      'a/part.tsx',
    ]),
  );
  assert.ok(isPure("import { type ReactNode } from 'react';\nexport const run = () => 1;"));
});

test('a file that reads the page is not, whatever its types and comments name', () => {
  assert.ok(!isPure('export const run = () => document.title;'));
  assert.ok(!isPure('export const run = () => window.scrollTo(0, 0);'));
  assert.ok(!isPure('const { title } = document;\nexport const run = () => title;'));
  assert.ok(isPure('// The document of the window.\nexport const run = (of: Window) => of.name;'));
  assert.ok(isPure("export const run = (one: { document: string }) => one.document + 'window';"));
  assert.ok(isPure('export const run = () => ({ document: 1 });'));
});

test('a test beside the file is one of the same name', () => {
  const text = 'export const run = () => 1;';
  const untested = (...paths) => untestedFiles(paths.map((path) => ({ path, text })));
  assert.deepEqual(untested('a/one.ts', 'a/two.ts', 'a/one.test.ts'), ['a/two.ts']);
  assert.deepEqual(untested('a/one.ts', 'b/one.test.ts'), ['a/one.ts']);
});
