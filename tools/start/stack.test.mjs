// Tests of npm start: the printed request is run, services are killed, and Ctrl-C is sent.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadEmbedded } from './load-typescript.mjs';
import { root } from './paths.mjs';

const stateDir = mkdtempSync(join(tmpdir(), 'parley-start-'));
const { isAlive, reachableDataDir } = await loadEmbedded();
// Below the ports that the system gives to connections.
const port = await freePorts(20_000 + (process.pid % 60) * 200);
const runs = [];

/** The first port from `base` on for which all ports of a stack are free. */
async function freePorts(base) {
  const isFree = (at) =>
    new Promise((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(at, '127.0.0.1', () => server.close(() => resolve(true)));
    });
  const offsets = [0, 1, 2, 3, 4, 5, 6, 50, 51, 100, 101, 102, 103, 104, 105, 106];
  for (let at = base; ; at += 200) {
    if ((await Promise.all(offsets.map((offset) => isFree(at + offset)))).every(Boolean)) return at;
  }
}

/** Runs `npm start` and collects its output. */
function start(options = [], env = {}) {
  const args = [
    join(root, 'tools', 'start.mjs'),
    '--port',
    String(port),
    '--state',
    stateDir,
    ...options,
  ];
  const { NODE_TEST_CONTEXT: _, DATABASE_URL: __, REDIS_URL: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, args, { cwd: root, env: { ...inherited, ...env } });
  const run = { child, output: '', ended: new Promise((resolve) => child.once('close', resolve)) };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (run.output += chunk));
  runs.push(run);
  return run;
}

/**
 * Waits until the output has the text; fails with the whole output when the process ends or
 * three minutes pass.
 */
async function until(run, text, from = 0) {
  for (let waited = 0; waited < 180_000; waited += 50) {
    if (run.output.indexOf(text, from) >= 0) return;
    if (run.child.exitCode !== null) break;
    await sleep(50);
  }
  assert.fail(`no "${text}" in:\n${run.output.slice(from)}`);
}

const readStack = () => JSON.parse(readFileSync(join(stateDir, 'stack.json'), 'utf8'));
const pidsOf = ({ services }) => Object.values(services).map(({ pid }) => pid);
const paste = (output) =>
  execFileSync('sh', ['-c', /^curl [\s\S]*?\n {2}-d .*$/m.exec(output)[0]], { encoding: 'utf8' });

let run;
before(async () => {
  run = start();
  await until(run, 'Press Ctrl-C to stop');
});
after(async () => {
  for (const { child, ended } of runs)
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  rmSync(reachableDataDir(join(stateDir, 'postgres')), { recursive: true, force: true });
  rmSync(stateDir, { recursive: true, force: true });
});

test('the printed curl command returns an answer with demo data, and the request is one short line', async () => {
  const answer = JSON.parse(paste(run.output));
  assert.ok(answer.message, `${JSON.stringify(answer)}\n${run.output}`);
  assert.match(answer.message, /entity\.query/);
  assert.match(answer.message, /priceClp|"data":\[\{/);
  assert.match(run.output, /Key +sk_dev_\S+/);
  await until(run, 'POST /v1/agents/shop-assistant/chat 200');
  assert.doesNotMatch(run.output, /INFO|requestId/);
  const hasLine = () =>
    readFileSync(join(stateDir, 'logs', 'gateway.log'), 'utf8').includes(
      '"path":"/v1/agents/shop-assistant/chat"',
    );
  // Lines are written together.
  for (let waited = 0; waited < 30_000 && !hasLine(); waited += 50) await sleep(50);
  assert.ok(hasLine(), 'the request is in gateway.log');
});

test('the printed link makes the first administrator, once', async () => {
  const [link, token] = /http:\S+\/console\/#\/join\/(\S+)/.exec(
    run.output.replaceAll(/\u001b\[\d+m/g, ''),
  );
  assert.equal(new URL(link).port, String(port));
  const accept = (email) =>
    fetch(`http://localhost:${port}/v1/invitations/accept`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: `http://localhost:${port}` },
      body: JSON.stringify({ token, email, password: 'correct horse 42' }),
    });
  const accepted = await accept('ana@example.com');
  assert.equal(accepted.status, 201, await accepted.text());
  assert.equal((await accept('ben@example.com')).status, 410);
});

test('only the owner can read files with secrets', () => {
  for (const file of ['stack.json', 'secrets.json', 'dev-key']) {
    assert.equal(statSync(join(stateDir, file)).mode & 0o077, 0, file);
  }
});

test('a second start in the same folder is refused', async () => {
  const second = start();
  assert.equal(await second.ended, 1);
  assert.match(second.output, /already running in this folder/);
});

const headers = () => ({ Authorization: `Bearer ${readStack().key}` });
const statusOf = async (path) =>
  (await fetch(`http://localhost:${port}${path}`, { headers: headers() })).status;

test('a killed service is reported and restarted, while the others keep answering', async () => {
  for (const name of Object.keys(readStack().services)) {
    const from = run.output.length;
    process.kill(readStack().services[name].pid, 'SIGKILL');
    await until(run, `${name} exited (SIGKILL)`, from);
    if (name !== 'gateway') assert.equal(await statusOf('/health'), 200, name);
    if (name !== 'gateway' && name !== 'data')
      assert.equal(await statusOf('/v1/entity-types'), 200, name);
    await until(run, `${name} is ready again`, from);
  }
  assert.match(paste(run.output), /entity\.query/);
});

test('nx serve runs a service until it ends, then the stack restarts it', async () => {
  const before = readStack().services.data.pid;
  const serve = spawn(
    process.execPath,
    [join(root, 'tools', 'serve.mjs'), 'data', '--state', stateDir],
    { cwd: root },
  );
  let output = '';
  for (const stream of [serve.stdout, serve.stderr])
    stream.on('data', (chunk) => (output += chunk));
  for (let i = 0; i < 2_400 && !output.includes('listening'); i++) await sleep(50);
  assert.match(output, /data .*listening/);
  assert.equal(isAlive(before), false);
  assert.equal(await statusOf('/v1/entity-types'), 200);

  const from = run.output.length;
  serve.kill('SIGINT');
  await until(run, 'Restarting data in this stack', from);
  await until(run, 'data is ready again', from);
});

test('Ctrl-C stops all processes, and the next start has the same key and data', async () => {
  const { key, pid } = readStack();
  const pids = [pid, ...pidsOf(readStack())];
  run.child.kill('SIGINT');
  assert.equal(await run.ended, 0);
  assert.match(run.output, /Stopped\./);
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(existsSync(join(stateDir, 'stack.json')), false);

  run = start();
  await until(run, 'Press Ctrl-C to stop');
  assert.equal(readStack().key, key);
  assert.doesNotMatch(run.output, /First administrator/);
});

test('the services of a killed supervisor end, and the next start works', async () => {
  const { pid, key } = readStack();
  const pids = pidsOf(readStack());
  process.kill(pid, 'SIGKILL');
  await run.ended;
  run = start();
  await until(run, 'Press Ctrl-C to stop');
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(readStack().key, key);
});

test('an unreachable database is reported in one message', async () => {
  run.child.kill('SIGTERM');
  await run.ended;
  run = start([], { DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/db' });
  assert.equal(await run.ended, 1);
  assert.match(
    run.output,
    /Cannot connect to PostgreSQL at DATABASE_URL \(postgresql:\/\/user@127\.0\.0\.1:1\/db\)/,
  );
  assert.doesNotMatch(run.output, /secret|at .*\.mjs/);
});

test('--fresh is refused with an external server', async () => {
  run = start(['--fresh'], { DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/db' });
  assert.equal(await run.ended, 1);
  assert.match(
    run.output,
    /--fresh only deletes the data in \.parley, but DATABASE_URL names an external server/,
  );
  assert.equal(existsSync(join(stateDir, 'secrets.json')), true);
});

test('--fresh lists what it would delete, and requires --yes without a terminal', async () => {
  run = start(['--fresh']);
  assert.equal(await run.ended, 1);
  assert.match(run.output, /--fresh deletes the data of earlier runs:\n.* MB {2}\S+ {2}database\n/);
  assert.match(run.output, /Nothing was deleted\. Without a terminal, confirm with --yes\./);
  const key = readFileSync(join(stateDir, 'dev-key'), 'utf8');
  run = start(['--fresh', '--yes']);
  await until(run, 'Press Ctrl-C to stop');
  assert.notEqual(readStack().key, key.trim());
});
