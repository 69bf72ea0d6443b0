import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadPaths, pages } from './cited-paths.mjs';

test('the paths of source files that the documentation cites exist', () => {
  assert.deepEqual(deadPaths(pages()), []);
});

const deadIn = (text, path = 'docs/architecture.md') => deadPaths([{ path, text }]);

test('a cited path that does not exist is found, with its line', () => {
  const place = 'docs/architecture.md';
  assert.deepEqual(deadIn('\nIn `apps/chat/src/routes/none.ts`.'), [
    `${place}:2: apps/chat/src/routes/none.ts`,
  ]);
  assert.deepEqual(deadIn('`routes/none.ts`, `none.ts`'), [
    `${place}:1: routes/none.ts`,
    `${place}:1: none.ts`,
  ]);
  assert.deepEqual(deadIn('`gateway/none` → `chat/routes/chat`'), [`${place}:1: gateway/none`]);
  assert.deepEqual(deadIn('`node tools/none.mjs NAME`'), [`${place}:1: tools/none.mjs`]);
  assert.deepEqual(deadIn('`apps/SERVICE/none/ACTION.ts`'), [
    `${place}:1: apps/SERVICE/none/ACTION.ts`,
  ]);
  assert.deepEqual(deadIn('[the tests](../apps/none)'), [`${place}:1: ../apps/none`]);
});

test('files, folders, placeholders, paths of the API and packages are accepted', () => {
  assert.deepEqual(
    deadIn('`apps/chat/src/routes/chat.ts:12`, `routes/chat.ts`, `apps/chat`, `libs/db/`'),
    [],
  );
  assert.deepEqual(
    deadIn('`apps/SERVICE/src/app.ts`, `*-variables.ts`, `tools/structure/*.test.mjs`'),
    [],
  );
  assert.deepEqual(
    deadIn('`GET /v1/tools/none`, `@parley/client/none`, `https://example.com/apps/none.ts`'),
    [],
  );
  assert.deepEqual(deadIn('[an app](../apps/chat) and [a page](https://example.com/none)'), []);
});

test('a page about a project of a user may name the files of that project', () => {
  assert.deepEqual(deadIn('`tools/shop.ts`', 'docs/custom-tools.md'), []);
  assert.equal(deadIn('`apps/none`', 'docs/custom-tools.md').length, 1);
});
