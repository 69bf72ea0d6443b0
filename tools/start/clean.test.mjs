import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { listenForRequests } from './control.mjs';
import { root } from './paths.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-clean-'));
const stateDir = join(folder, 'state');
const elsewhere = join(folder, 'elsewhere');
const script = join(root, 'tools', 'clean.mjs');
const clean = (...args) =>
  spawnSync(process.execPath, [script, '--state', stateDir, ...args], { encoding: 'utf8' });
after(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  rmSync(stateDir, { recursive: true, force: true });
  for (const path of ['elsewhere', 'state/logs', 'state/redis'])
    mkdirSync(join(folder, path), { recursive: true });
  symlinkSync(elsewhere, join(stateDir, 'postgres'));
  writeFileSync(join(elsewhere, 'base'), Buffer.alloc(2_500_000));
  for (const name of ['logs/gateway.log', 'redis/appendonly.aof', 'mine.txt'])
    writeFileSync(join(stateDir, name), 'x');
  writeFileSync(
    join(stateDir, 'secrets.json'),
    JSON.stringify({ SECRETS_KEY: 'k', EXECUTOR_TOKEN: 't' }),
  );
});

/** Runs the command in a pseudo-terminal and types the answer. */
function cleanOnTerminal(answer) {
  return new Promise((resolve) => {
    const line = `stty cols 40; exec '${process.execPath}' '${script}' --state '${stateDir}'`;
    const child = spawn('script', ['-qefc', line, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '' },
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (!output.includes('[y/N]') && (output + chunk).includes('[y/N]'))
        child.stdin.write(answer);
      output += chunk;
    });
    child.once('close', (status) => resolve({ status, output }));
  });
}

test('it lists what it deletes with sizes, also outside of the folder, and requires --yes without a terminal', () => {
  const refused = clean();
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /Nothing was deleted\. Without a terminal, confirm with --yes\./);
  assert.match(refused.stdout, new RegExp(`^ +2\\.5 MB {2}${elsewhere} {2}database$`, 'm'));
  assert.match(refused.stdout, /2\.5 MB in total/);
  assert.equal(existsSync(join(elsewhere, 'base')), true);

  const { status, stdout } = clean('--yes');
  assert.deepEqual([status, /^Deleted 2\.5 MB\.$/m.test(stdout)], [0, true]);
  for (const name of ['postgres', 'logs', 'redis', 'secrets.json'])
    assert.equal(existsSync(join(stateDir, name)), false, name);
  assert.equal(existsSync(elsewhere), false);
  assert.equal(existsSync(join(stateDir, 'mine.txt')), true, 'files of the user stay');
  assert.match(clean().stdout, /^There is nothing to delete\.$/m);
});

test('a folder that npm start did not make is refused, also by --fresh', () => {
  const start = () =>
    spawnSync(
      process.execPath,
      [
        join(root, 'tools', 'start', 'main.mjs'),
        '--state',
        stateDir,
        '--port',
        '23500',
        '--fresh',
        '--yes',
      ],
      {
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, DATABASE_URL: '', REDIS_URL: '' },
      },
    );
  for (const secrets of [null, 'x', 'null', '{"SECRETS_KEY":"k"}']) {
    rmSync(join(stateDir, 'secrets.json'), { force: true });
    if (secrets !== null) writeFileSync(join(stateDir, 'secrets.json'), secrets);
    for (const { status, stderr } of [clean('--yes'), ...(secrets === null ? [start()] : [])]) {
      assert.equal(status, 1);
      assert.match(
        stderr,
        /Nothing was deleted\. \S+ was not made by npm start: it has no secrets\.json of Parley\./,
      );
    }
    for (const name of ['postgres', 'logs/gateway.log', 'redis/appendonly.aof'])
      assert.equal(existsSync(join(stateDir, name)), true, name);
  }
});

test('a terminal is asked, and only yes deletes', async () => {
  for (const answer of ['\r', 'n\r', '\x03', '\x04']) {
    const { status, output } = await cleanOnTerminal(answer);
    assert.equal(status, 1, JSON.stringify(answer));
    assert.match(output, /\x1b\[31m✗\x1b\[0m Nothing was deleted\./);
    assert.equal(existsSync(join(elsewhere, 'base')), true);
  }
  const { status, output } = await cleanOnTerminal('y\r');
  assert.deepEqual([status, /Deleted 2\.5 MB/.test(output)], [0, true]);
  assert.equal(existsSync(elsewhere), false);
});

test('with --json it prints what was deleted as one line', () => {
  const { stdout } = clean('--yes', '--json');
  const { deleted, bytes } = JSON.parse(stdout);
  assert.deepEqual(
    [deleted[0], bytes > 2_500_000],
    [{ path: elsewhere, what: 'database', bytes: 2_500_000 }, true],
  );
});

test('it is refused while the stack runs', async () => {
  const control = await listenForRequests(stateDir, async () => ({
    pid: 7,
    gatewayUrl: 'http://localhost:4000',
  }));
  const child = spawn(process.execPath, [script, '--state', stateDir, '--yes']);
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  control.close();
  assert.deepEqual(
    [status, /already running in this folder: http:\/\/localhost:4000 \(process 7\)/.test(printed)],
    [1, true],
  );
  assert.equal(existsSync(elsewhere), true);
});
