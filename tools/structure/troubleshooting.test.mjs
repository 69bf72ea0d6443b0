// docs/troubleshooting.md: each error text in a heading occurs in the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { readFiles } from './files.mjs';

test('the errors of the troubleshooting page are texts of the code', () => {
  const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
  const code = readFiles('apps/*.ts', 'libs/*.ts', 'tools/start/*.mjs', 'tools/start.mjs')
    .filter(({ path }) => !path.includes('.test.'))
    .map(({ text }) => text)
    .join('\n');
  const headings = page.split('\n').filter((line) => line.startsWith('### '));
  const texts = headings.flatMap((line) =>
    [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text),
  );
  assert.ok(texts.length > 30);
  const parts = texts.flatMap((text) =>
    text.split('…').map((part) => ({ text, part: part.trim() })),
  );
  const missing = parts.filter(({ part }) => part.length > 3 && !code.includes(part));
  assert.deepEqual(missing, []);
});
