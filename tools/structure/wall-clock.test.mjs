import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFiles } from './files.mjs';
import { wallClockUses } from './wall-clock.mjs';

const found = readFiles(
  'apps/*.test.ts',
  'apps/*.test.tsx',
  'libs/*.test.ts',
  'tools/*.test.mjs',
).flatMap(wallClockUses);

test('no test limits a measured time to less than 10 seconds without "// wall clock: REASON"', () => {
  assert.deepEqual(
    found.filter(({ kind }) => kind === 'limit'),
    [],
  );
});

test('no test begins to wait for a fixed time without "// wall clock: REASON"', () => {
  const existing = JSON.parse(
    readFileSync(new URL('./existing-sleeps.json', import.meta.url), 'utf8'),
  );
  const sleeps = found
    .filter(({ kind }) => kind === 'sleep')
    .map((sleep) => ({ ...sleep, file: fileOf(sleep) }));
  const countOf = (file) => sleeps.filter((sleep) => sleep.file === file).length;
  // Waits that are older than this check are counted by file. Of a file that has
  // more, all are shown.
  const added = sleeps.filter(({ file }) => countOf(file) > (existing[file] ?? 0));
  assert.deepEqual(added, [], 'wait for the thing itself with `until`, or give the reason');
});

const fileOf = ({ place }) => place.split(':')[0];

const kindsIn = (text) => wallClockUses({ path: 'a.test.ts', text }).map(({ kind }) => kind);

const startedAt = 'const startedAt = performance.now();\n';

for (const [text, kinds] of [
  [`${startedAt}expect(performance.now() - startedAt).toBeLessThan(500);`, ['limit']],
  [`${startedAt}expect(performance.now() - startedAt).toBeLessThan(10_000);`, []],
  [`${startedAt}expect(performance.now() - startedAt).toBeGreaterThan(50);`, []],
  [
    `${startedAt}const took = Date.now() - startedAt;\nexpect(Math.round(took)).toBeLessThanOrEqual(2 * 1_000);`,
    ['limit'],
  ],
  [`${startedAt}const limit = 20_000;\nexpect(Date.now() - startedAt).toBeLessThan(limit);`, []],
  ['const took = () => performance.now();\nexpect(took()).toBeLessThan(3 * took());', ['limit']],
  [
    'const timesMs = { a: [] };\ntimesMs.a.push(performance.now());\nexpect(timesMs.a[0]).toBeLessThan(5);',
    ['limit'],
  ],
  ['expect(answer.durationMs).toBeLessThan(100);', ['limit']],
  ['expect(retryAt).toBeLessThan(Date.now() + 100);', []],
  ['expect(Math.abs(body.timestamp - Date.now())).toBeLessThan(5_000);', ['limit']],
  [`${startedAt}assert.ok(performance.now() - startedAt < 100);`, ['limit']],
  [
    `${startedAt}// wall clock: the limit is the subject.\nexpect(Date.now() - startedAt).toBeLessThan(5);`,
    [],
  ],
  ["import { setTimeout as sleep } from 'node:timers/promises';\nawait sleep(100);", ['sleep']],
  [
    "import { setTimeout as pause } from 'timers/promises';\nawait pause(100); // wall clock: a slow provider",
    [],
  ],
  ["import { setTimeout as sleep } from 'node:timers/promises';\nawait sleep(0);", []],
  ['await new Promise((resolve) => setTimeout(resolve, 100));', ['sleep']],
])
  test(`${kinds.length === 0 ? 'accepts' : `finds a ${kinds[0]} in`} ${text.split('\n').join(' ')}`, () =>
    assert.deepEqual(kindsIn(text), kinds));
