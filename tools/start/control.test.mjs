import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { askSupervisor, listenForRequests } from './control.mjs';

test('a request is answered, and its end is noticed', async (t) => {
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
