import assert from 'node:assert/strict';
import { test } from 'node:test';
import ts from 'typescript';
import { longFunctions, measureDensity } from './density.mjs';

const fileOf = (path, text) => ({
  path,
  place: path.split('/').slice(0, 2).join('/'),
  source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
  lines: text.split('\n').length - 1,
});

test('the table has a row for each project and one for all', () => {
  const files = [
    fileOf('libs/b/src/b.ts', '/** A comment. */\nexport const b = 1;\n'),
    fileOf('apps/a/src/a.tsx', 'const a = c ? 1 : (d ? 2 : 3);\n\nconst e = { ...{ f, g } };\n'),
  ];
  const rows = measureDensity(files);
  assert.deepEqual(
    rows.map(({ project, lines, conditionals, nested, spreads }) => [
      project,
      lines,
      conditionals,
      nested,
      spreads,
    ]),
    [
      ['apps/a', 3, 2, 1, 1],
      ['libs/b', 2, 0, 0, 0],
      ['all', 5, 2, 1, 1],
    ],
  );
  assert.equal(rows[1].tokensPerLine, 6);
});

test('functions of more than 80 lines are listed with their place, the longest first', () => {
  const body = (lines) => `{${'\n  work();'.repeat(lines - 2)}\n}`;
  const text = `function short() ${body(80)}\nconst long = () => ${body(81)};\nfunction longer() ${body(90)}\n`;
  const found = longFunctions([fileOf('apps/a/src/a.ts', text)]);
  assert.deepEqual(
    found.map(({ name, line, lines }) => [name, line, lines]),
    [
      ['longer', 162, 90],
      ['long', 81, 81],
    ],
  );
});
