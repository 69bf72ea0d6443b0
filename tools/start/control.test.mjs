import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { askSupervisor, listenForRequests } from './control.mjs';

test('a request is answered, and the end of its connection is detected', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-control-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(await askSupervisor(folder, { command: 'status' }), null);

  let closed;
  const isClosed = new Promise((resolve) => (closed = resolve));
  const control = await listenForRequests(folder, async ({ command }, whenClosed) => {
    if (command === 'fail') throw new Error('no such thing');
    whenClosed(closed);
    return { command };
  });
  const failed = await askSupervisor(folder, { command: 'fail' });
  assert.deepEqual(failed.answer, { error: 'no such thing' });
  failed.connection.destroy();

  const { answer, connection } = await askSupervisor(folder, { command: 'status' });
  assert.deepEqual(answer, { command: 'status' });
  connection.end();
  await isClosed;
  control.close();
});

test('only one of several concurrent supervisors starts, also after one that was killed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-control-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const status = async () => ({ pid: 1, gatewayUrl: 'http://localhost:4000' });
  const [first, ...others] = await Promise.allSettled(
    [1, 2, 3].map(() => listenForRequests(folder, status)),
  );
  assert.equal(first.status, 'fulfilled');
  for (const { reason } of others)
    assert.match(reason.message, /already running in this folder: http:.*4000/);
  first.value.close();

  const killed = spawnSync(process.execPath, [
    '--input-type=module',
    '-e',
    `import { listenForRequests } from ${JSON.stringify(new URL('./control.mjs', import.meta.url).href)};
     await listenForRequests(${JSON.stringify(folder)}, async () => ({}));
     process.kill(process.pid, 'SIGKILL');`,
  ]);
  assert.equal(killed.signal, 'SIGKILL');
  assert.equal(existsSync(join(folder, 'control.sock')), true);
  (await listenForRequests(folder, status)).close();
});
