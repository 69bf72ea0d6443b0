import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { readFiles } from './files.mjs';

test('the reference of limits lists each label of limit_refusals_total, and no others', () => {
  const reported = readFiles('apps/**/*.ts', 'libs/**/*.ts')
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .flatMap(({ text }) => [
      ...text.matchAll(/\b(?:reportRefusal\(|refuse\(deps,|(?:share|queue)Requests\(\{)([^;]*)/g),
    ])
    .flatMap(([, args]) => [...args.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map(([, name]) => name));
  const text = readFileSync(join(root, 'docs/reference/limits.md'), 'utf8');
  const section = text.slice(text.indexOf('\n## Refusals\n'));
  const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), [...new Set(reported)].sort());
});
