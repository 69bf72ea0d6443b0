import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { historyText, readHistory, toRun, withLastRun } from './record.mjs';

const bench = {
  name: 'data',
  args: [],
  load: 0.42,
  seconds: 1,
  exitCode: 0,
  figures: [{ name: 'data: memory', value: 180.3, unit: 'MB', atMost: 200 }],
};
const results = { startedAt: '2026-11-28T10:00:00.000Z', machine: 'two cores', benches: [bench] };
const page = 'Before.\n\n<!-- The last run: begin -->\nold\n<!-- The last run: end -->\n\nAfter.\n';

test('docs/bench.md shows the last run of docs/bench-history.json', () => {
  const text = readFileSync(join(root, 'docs', 'bench.md'), 'utf8');
  assert.equal(text, withLastRun(text, readHistory().at(-1)));
});

test('a run replaces the table of the page and nothing else', () => {
  assert.deepEqual(withLastRun(page, toRun(results)).split('\n'), [
    'Before.',
    '',
    '<!-- The last run: begin -->',
    '',
    '2026-11-28, two cores; load at most 0.4 before a bench.',
    '',
    '| figure | measured | bar | target |  |',
    '| --- | --- | --- | --- | --- |',
    '| data: memory | 180 MB | ≤ 200 |  | met |',
    '',
    '<!-- The last run: end -->',
    '',
    'After.',
    '',
  ]);
});

test('the history is JSON with a figure a line', () => {
  const runs = [toRun(results), toRun(results)];
  const text = historyText(runs);
  assert.deepEqual(JSON.parse(text), runs);
  assert.equal(text.split('\n').filter((line) => line.includes('data: memory')).length, 2);
});

test('a run with a bench that failed is not recorded', () => {
  const failed = { ...results, benches: [bench, { ...bench, name: 'chat', exitCode: 1 }] };
  assert.throws(() => toRun(failed), /benches failed: chat/);
});
