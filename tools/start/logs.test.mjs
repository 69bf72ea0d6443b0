import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { logsDir, openLogFile } from './log-files.mjs';
import { root } from './paths.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-logs-'));
after(() => rmSync(folder, { recursive: true }));
const script = join(root, 'tools', 'logs.mjs');
const logs = (...args) =>
  spawnSync(process.execPath, [script, '--state', folder, ...args], { encoding: 'utf8' });
const entry = (msg, time = new Date().toISOString()) =>
  JSON.stringify({ level: 'info', time, msg });
const messages = (text) => [...text.matchAll(/INFO {2}(\S+)/g)].map(([, message]) => message);

test('without logs it says how to get some', () => {
  const { status, stderr } = logs();
  assert.deepEqual([status, stderr.includes('There are no logs in')], [1, true]);
});

test('the lines of all services are sorted by time, and selected by service and --since', () => {
  const [gateway, worker] = ['gateway', 'worker'].map((name) => openLogFile(folder, name));
  gateway.write(entry('first', '2026-01-01T10:00:00.000Z'));
  worker.write(entry('second', '2026-01-01T10:00:01.000Z'));
  gateway.write(entry('third', '2026-01-01T10:00:02.000Z'));
  worker.write('plain \u001b[2J text');
  for (const file of [gateway, worker]) file.flush();
  assert.equal(statSync(join(logsDir(folder), 'gateway.log')).mode & 0o077, 0);

  const all = logs().stdout;
  assert.deepEqual(messages(all), ['first', 'second', 'third', 'plain']);
  assert.match(all, /^gateway {8}\d\d:\d\d:\d\d\.000 INFO {2}first$/m);
  assert.match(all, /plain \\u001b\[2J text/);
  assert.deepEqual(messages(logs('worker').stdout), ['second', 'plain']);
  assert.deepEqual(messages(logs('--since', '10m').stdout), ['plain']);
  assert.deepEqual(messages(logs('--since', '2026-01-01T10:00:02Z', 'gateway').stdout), ['third']);
  assert.deepEqual(JSON.parse(logs('gateway', '--json').stdout.split('\n')[0]).msg, 'first');
  assert.match(logs('gatewy').stderr, /There is no service gatewy\. Available: gateway, worker\./);
  assert.match(logs('--since', 'soon').stderr, /--since must be a duration such as 10m/);
});

test('a file has a limit, and --follow continues through it', async () => {
  const file = openLogFile(folder, 'data', { limitBytes: 1_000 });
  file.write(entry('m0'));
  file.flush();
  const child = spawn(process.execPath, [script, 'data', '--follow', '--state', folder]);
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += chunk));
  for (let at = 1; at < 60; at += 1) {
    file.write(entry(`m${at}`));
    if (at % 5 === 0) {
      file.flush();
      await sleep(250);
    }
  }
  file.flush();
  for (let waited = 0; waited < 10_000 && !shown.includes('m59'); waited += 50) await sleep(50);
  child.kill('SIGINT');
  assert.deepEqual(
    messages(shown),
    Array.from({ length: 60 }, (_, at) => `m${at}`),
  );
  for (const name of ['data.log', 'data.log.1'])
    assert.ok(readFileSync(join(logsDir(folder), name)).length <= 1_000, name);
});
