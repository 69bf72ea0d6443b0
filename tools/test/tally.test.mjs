import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTally } from './tally.mjs';

function tallyOf(text, exitCode = 0) {
  const tally = createTally();
  for (const line of text.split('\n')) tally.read(line);
  return tally.result(exitCode);
}

test('the tests of all projects are summed, including cached ones', () => {
  const output = `
> nx run entities:test  [local cache]
Tests:       3 passed, 3 total
> nx run db:test
Tests:       1 skipped, 4 passed, 5 total
> nx run bootstrap:test
# pass 2
# fail 0
> nx run bootstrap:planted-faults
15 passed, 1 failed`;
  assert.deepEqual(tallyOf(output), { passed: 24, failed: 1 });
});

test('failed tests are counted, and a task that fails without one counts as one failure', () => {
  const output = `
> nx run entities:test
Tests:       2 failed, 3 passed, 5 total
> nx run parley:check
error TS2322
> nx run db:test
Tests:       0 total

Failed tasks:

- entities:test
- parley:check
- db:test`;
  assert.deepEqual(tallyOf(output, 1), { passed: 3, failed: 4 });
});

test('a failure of Nx without tests counts as one failure', () => {
  assert.deepEqual(tallyOf('no such project', 1), { passed: 0, failed: 1 });
});
