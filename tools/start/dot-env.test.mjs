import assert from 'node:assert/strict';
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
