import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparison, isMet, movedFigures, resultTable } from './results.mjs';

const resultsOf = (...figures) => ({
  machine: 'two cores',
  benches: [{ name: 'data', args: [], load: 0.1, seconds: 1, exitCode: 0, figures }],
});
const memory = (value) => ({ name: 'data: memory', value, unit: 'MB', atMost: 200, target: 150 });
const rate = (value) => ({ name: 'data: rate', value, unit: '×', atLeast: 2.5 });
const plain = (value) => ({ name: 'data: plain', value, unit: 'MB' });

test('a figure misses a bar on its far side only', () => {
  assert.deepEqual(
    [199, 200, 201].map((value) => isMet(memory(value))),
    [true, true, false],
  );
  assert.deepEqual(
    [2.4, 2.5, 9].map((value) => isMet(rate(value))),
    [false, true, true],
  );
  assert.equal(isMet(plain(1_000)), null);
});

test('the table says "missed" for each bar that is missed, and names the benches that failed', () => {
  const results = resultsOf(memory(377.4), rate(2.51), plain(0.123456));
  results.benches.push({ ...results.benches[0], name: 'chat', figures: [], exitCode: 1 });
  assert.deepEqual(resultTable(results).split('\n'), [
    '| figure | measured | bar | target |  |',
    '| --- | --- | --- | --- | --- |',
    '| data: memory | 377 MB | ≤ 200 | 150 | missed |',
    '| data: rate | 2.51 × | ≥ 2.5 |  | met |',
    '| data: plain | 0.123 MB |  |  |  |',
    '',
    'The bench chat failed.',
  ]);
});

test('a figure moves when it leaves the noise of two runs', () => {
  const before = [resultsOf(memory(100), rate(4)), resultsOf(memory(120), rate(4))];
  const movedBy = (...figures) =>
    movedFigures(before, resultsOf(...figures)).map(({ name }) => name);
  // Memory has 110 ± 20. The two runs of the rate agree: ± 5 %.
  assert.deepEqual(movedBy(memory(91), rate(4.19)), []);
  assert.deepEqual(movedBy(memory(89), rate(4.21)), ['data: memory', 'data: rate']);
  assert.deepEqual(movedBy(memory(131), rate(3.79)), ['data: memory', 'data: rate']);
  // A figure without an earlier value cannot be compared.
  assert.deepEqual(movedBy(plain(1)), []);
});

test('the noise of one run is 15 %', () => {
  assert.equal(
    comparison([resultsOf(memory(100))], resultsOf(memory(114))),
    'No figure moved beyond the noise.',
  );
  assert.match(
    comparison([resultsOf(memory(100))], resultsOf(memory(116))),
    /data: memory \| 100 ± 15 \| 116 MB \| 1.16× \| worse/,
  );
});

test('the bar says whether a move is for the better', () => {
  const moved = comparison(
    [resultsOf(memory(100), rate(4), plain(1))],
    resultsOf(memory(50), rate(2), plain(2)),
  );
  assert.match(moved, /memory .* better \|/);
  assert.match(moved, /rate .* worse \|/);
  assert.match(moved, /plain .*\|  \|/);
});
