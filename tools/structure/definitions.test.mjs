import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { definitionsPage } from './definitions-page.mjs';
import { root } from '../start/paths.mjs';

test('docs/reference/definitions.md is what the schemas say; node tools/definitions.mjs writes it', async () => {
  const page = await definitionsPage();
  assert.equal(readFileSync(join(root, 'docs', 'reference', 'definitions.md'), 'utf8'), page);
  assert.match(page, /\| `on\.schedule` \| string \| in one form \| When the trigger runs/);
  assert.match(page, /\| `model\.fallbacks` \| list of string \| no \| .* \| at most 5 entries \|/);
});
