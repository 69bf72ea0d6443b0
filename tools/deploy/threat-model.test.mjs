import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';

const text = readFileSync(join(root, 'docs', 'threat-model.md'), 'utf8');
const files = globSync('{apps,libs,tools}/**/*.test.{ts,mjs}', {
  cwd: root,
  exclude: ['**/node_modules/**'],
});
const rows = text
  .split('\n')
  .filter((line) => /^\| API\d+ /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/**
 * Parses `apps/data isolation.test, roles.test; libs/db api-keys.test` into pairs of a
 * folder and a file.
 */
const namedIn = (cell) =>
  cell.split(';').flatMap((group) => {
    const [folder, ...names] = group.trim().split(/[ ,]+/);
    return names.map((name) => [folder, name]);
  });
const exists = ([folder, name]) =>
  files.some(
    (file) => file.startsWith(`${folder}/`) && basename(file).replace(/\.(ts|mjs)$/, '') === name,
  );

test('each of the ten risks has a mitigation and names tests that exist', () => {
  assert.deepEqual(
    rows.map(([, risk]) => /^API\d+/.exec(risk)[0]),
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
  for (const [, risk, mitigation, tested] of rows) {
    assert.ok(mitigation.length > 40, risk);
    const named = namedIn(tested);
    assert.ok(named.length > 0, `${risk} names no test`);
    for (const one of named) assert.ok(exists(one), `${risk}: ${one.join(' ')} does not exist`);
  }
});

test('tests that are named outside the table exist', () => {
  const named = [...text.matchAll(/\b((?:apps|libs|tools)\/[\w-]+) ([\w-]+\.test)\b/g)].map(
    ([, folder, name]) => [folder, name],
  );
  assert.ok(named.length > 10);
  for (const one of named) assert.ok(exists(one), one.join(' '));
  assert.equal(exists(['apps/data', 'no-such.test']), false);
});
