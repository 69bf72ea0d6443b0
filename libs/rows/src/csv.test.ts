import fc from 'fast-check';
import { formatCsvRow, guardText, parseCsv, unguardText } from './csv';

const rowsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    '\ufeffa,b\r\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a\n"x, ""y""\nz"\n\nb', [['a'], ['x, "y"\nz'], ['b']]],
  [
    'a,\n,b\n',
    [
      ['a', ''],
      ['', 'b'],
    ],
  ],
  ['"a"b,5" pipe', [['"a"b', '5" pipe']]],
  ['', []],
])('parses CSV %j', (text, rows) => {
  expect(rowsOf(text)).toEqual(rows);
});

test('a quote that is never closed is reported with its row', () => {
  expect(() => rowsOf('a\nb\n"c\nd')).toThrow('row 3: a quote is never closed');
});

test('every row is read back as it was written', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', ';', '\t', '"', '\n', '\r', ' ', 'é') });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, fc.constant('end')), { maxLength: 5 }), (rows) => {
      expect(rowsOf(rows.map((row) => `${formatCsvRow(row)}\n`).join(''))).toEqual(rows);
    }),
  );
});

test('each record knows the line on which it begins', () => {
  const text = 'a,b\r\n1,2\n\n"x\ny",3\n4,"5\n\n6"\n7,8';
  expect(parseCsv(text).map(({ line, cells }) => [line, cells[0]])).toEqual([
    [1, 'a'],
    [2, '1'],
    [4, 'x\ny'],
    [6, '4'],
    [9, '7'],
  ]);
});

test('a break of CR and LF inside of a cell is one line', () => {
  const lines = parseCsv('a,b\r\n"x\r\ny","\r\n"\r\n\r\n3,4\r\n5,6\r\n').map(({ line }) => line);
  expect(lines).toEqual([1, 2, 6, 7]);
});

test('a given delimiter is used, such as the tab of a clipboard', () => {
  expect(rowsOf('1,5')).toEqual([['1', '5']]);
  expect(parseCsv('1,5', { delimiter: '\t' }).map(({ cells }) => cells)).toEqual([['1,5']]);
});

test('an empty line of a copied column is an empty cell', () => {
  const cells = (text: string) =>
    parseCsv(text, { delimiter: '\t', keepEmptyLines: true }).map((one) => one.cells);
  expect(cells('1\n\n2\r\n')).toEqual([['1'], [''], ['2']]);
});

const signs = [...'=+-@\t\r＝＋－＠﹦﹢﹣﹫'];
const unseen = [
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u200b',
  '\ufeff',
  '\u2060',
  '\u3000',
  '\u00ad',
  '\u202e',
  '\u0001',
  '\u2800',
  '\u3164',
];

test('a formula is guarded in every form, and after blanks and characters that are not seen', () => {
  for (const begin of ['', ...unseen, unseen.join(''), "'", "' "])
    for (const sign of signs) {
      const text = `${begin}${sign}cmd|'/c calc'!A1`;
      expect([text, guardText(text)]).toEqual([text, `'${text}`]);
      expect([text, unguardText(guardText(text))]).toEqual([text, text]);
      expect([text, unguardText(guardText(text, true))]).toEqual([text, text]);
    }
});

test('other texts stay as they are', () => {
  for (const text of [
    '',
    ' ',
    "'",
    "it's",
    'a=1',
    '1-2',
    ' a',
    '\u00a0a',
    'ＡＢ',
    '(=1)',
    '{"a":"=1"}',
    '❤',
    "'\u200b",
  ])
    expect([text, guardText(text), unguardText(text)]).toEqual([text, text, text]);
});

test('a long text of characters that are not seen takes no quadratic time', () => {
  for (const character of [...unseen, "'"]) {
    const text = `${character.repeat(1_000_000)}a`;
    expect(unguardText(guardText(text)) === text).toBe(true);
  }
});

test('every text is read back', () => {
  const text = fc.string({ unit: fc.constantFrom("'", 'a', ...signs, ...unseen), maxLength: 5 });
  fc.assert(
    fc.property(
      text,
      fc.boolean(),
      (given, keepFormulas) => unguardText(guardText(given, keepFormulas)) === given,
    ),
  );
});
