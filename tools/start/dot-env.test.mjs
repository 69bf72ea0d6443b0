import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDotEnv } from './dot-env.mjs';

test('.env sets what the environment does not have, and one line names the variables without values', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dot-env-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  assert.equal(readDotEnv(file, {}), null);
  writeFileSync(file, '# only a comment\nEMPTY=\n');
  assert.equal(readDotEnv(file, {}), null);

  writeFileSync(
    file,
    'OPENAI_API_KEY="sk-1 2"\nPORT_X=1\nexport OLLAMA_BASE_URL=http://o # local\nRESEND_API_KEY=r\n',
  );
  const environment = { PORT_X: '2', RESEND_API_KEY_FILE: '/run/resend' };
  const line = readDotEnv(file, environment);
  assert.equal(
    line,
    '.env sets OLLAMA_BASE_URL, OPENAI_API_KEY; the environment already has PORT_X, RESEND_API_KEY',
  );
  assert.deepEqual(environment, {
    PORT_X: '2',
    RESEND_API_KEY_FILE: '/run/resend',
    OPENAI_API_KEY: 'sk-1 2',
    OLLAMA_BASE_URL: 'http://o',
  });
});

test('.env may begin with a byte order mark and have the lines of Windows', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dot-env-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  const environment = {};
  writeFileSync(file, '\uFEFFOPENAI_API_KEY=sk-1\r\nPORT_X=1\r\n');
  assert.equal(readDotEnv(file, environment), '.env sets OPENAI_API_KEY, PORT_X');
  assert.deepEqual(environment, { OPENAI_API_KEY: 'sk-1', PORT_X: '1' });
});

test('.env in another encoding is refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dot-env-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  for (const bytes of [Buffer.from('\uFEFFA=1\n', 'utf16le'), Buffer.from([0x41, 0x3d, 0xe9])]) {
    writeFileSync(file, bytes);
    assert.throws(() => readDotEnv(file, {}), /\.env is not in UTF-8/);
  }
});
