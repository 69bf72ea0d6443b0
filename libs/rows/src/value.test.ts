import { type ValueKind, kindOf, readValue, writeValue } from './value';

test.each<[string, ValueKind, unknown]>([
  ['12.5', 'number', 12.5],
  ['-1e3', 'number', -1000],
  ['cheap', 'number', 'number'],
  [' ', 'number', 'number'],
  ['1e999', 'number', 'number'],
  ['1.5', 'integer', 'integer'],
  ['2', 'integer', 2],
  ['TRUE', 'boolean', true],
  ['yes', 'boolean', 'boolean'],
  ['1795374418289', 'date', 1795374418289],
  ['2026-11-20', 'date', '2026-11-20'],
  ['{"a":1}', 'object', { a: 1 }],
  ['[1]', 'object', 'object'],
  ['null', 'object', 'object'],
  ['{', 'object', 'json'],
  ['[1]', 'array', [1]],
  ['{}', 'array', 'array'],
  ['5', 'any', 5],
  ['five', 'any', 'five'],
  ['5', 'text', '5'],
])('%j as %s', (text, kind, wanted) => {
  const read = readValue(text, kind);
  expect(read.ok ? read.value : read.expected).toEqual(wanted);
});

test.each([
  ['1,234.5', '.', 1234.5],
  ['1.234,5', ',', 1234.5],
  ['$24.990', ',', 24990],
  ['24.990', '.', 24.99],
  ['-1 234 567,25 €', ',', -1234567.25],
  ['1.23,4', ',', null],
  ['12,34', '.', null],
  ['1,5', ',', 1.5],
  ['', ',', null],
  ['-', '.', null],
] as const)('%j, written with the decimal sign %j', (text, decimal, wanted) => {
  const read = readValue(text, 'number', decimal);
  expect(read.ok ? read.value : null).toBe(wanted);
});

test('the names of types have kinds, and values are written as they are read', () => {
  expect(
    ['money', 'float', 'email', 'timestamp', 'json', 'constructor', undefined].map(kindOf),
  ).toEqual([...['number', 'number', 'text', 'date', 'any', 'text', 'text']]);
  expect([1.5, true, null, undefined, 'a', [1], { a: 'b' }].map(writeValue)).toEqual([
    ...['1.5', 'true', '', '', 'a', '[1]', '{"a":"b"}'],
  ]);
});
