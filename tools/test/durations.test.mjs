import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from '../start/paths.mjs';
import { slowestLines } from './durations.mjs';

const measured = fileURLToPath(new URL('./measured.mjs', import.meta.url));

test('the slowest twenty files are listed, in seconds', () => {
  const files = Array.from({ length: 25 }, (_, at) => ({
    path: `libs/a/${at}.test.ts`,
    wallMs: 90_000 - at * 1_000,
  }));
  const [title, ...lines] = slowestLines(files);
  assert.match(title, /^The slowest of 25 files/);
  assert.equal(lines.length, 20);
  assert.equal(lines[0], '   90.0 s  libs/a/0.test.ts');
  assert.deepEqual(slowestLines([]), []);
});

test('a measured command ends with its own exit code and output, and its times are written', () => {
  const script = 'console.log(process.env.PARLEY_TEST_TARGET); process.exit(3)';
  const { status, stdout } = spawnSync(
    process.execPath,
    [measured, 'durations:test', process.execPath, '-e', script],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 3);
  assert.equal(stdout, 'durations:test\n');
  const file = join(root, 'dist', 'durations', 'target-durations-test.json');
  const [{ target, wallMs, cpuMs }] = JSON.parse(readFileSync(file, 'utf8')).targets;
  rmSync(file);
  assert.equal(target, 'durations:test');
  assert.ok(wallMs > 0 && (cpuMs === null || cpuMs > 0));
});
