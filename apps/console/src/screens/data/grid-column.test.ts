import type { Json } from '@parley/client';
import { entityOf, fieldOf } from '../../testing/entities';
import { editText, isInline, isNumeric, valueOf } from './grid-column';

test.each<[string, Json | undefined, boolean]>([
  ['string', 'short', true],
  ['string', 'ñ'.repeat(300), true],
  ['string', 'ñ'.repeat(301), false],
  ['string', 'two\nlines', false],
  ['string', 'two\rlines', false],
  ['string', undefined, true],
  ['string', null, true],
  ['number', 12, true],
  ['any', { a: 1 }, false],
  ['any', [], false],
  ['string', ['not', 'its', 'type'], false],
  ['object', null, false],
  ['array', undefined, false],
])('whether a %s with the value %j is edited in its place', (type, value, isIn) => {
  expect(isInline(fieldOf('a', type), value)).toBe(isIn);
});

test('only numbers are numeric', () => {
  const types = ['number', 'integer', 'money', 'boolean', 'string', 'date', 'any', 'array'];
  expect(types.filter((type) => isNumeric(fieldOf('a', type)))).toEqual([
    'number',
    'integer',
    'money',
  ]);
});

test.each(['constructor', 'toString', '__proto__'])(
  'a field with the name %j has only the value of the entity',
  (name) => {
    expect(valueOf(entityOf('e'), fieldOf(name))).toBeUndefined();
    const data = JSON.parse(`{"${name}": 1}`) as { [name: string]: Json };
    expect(valueOf(entityOf('e', data), fieldOf(name))).toBe(1);
  },
);

test('the text of an editor is the value, and empty without one', () => {
  expect([undefined, null, '', 'a', 0, false, { a: [1] }].map((value) => editText(value))).toEqual([
    '',
    '',
    '',
    'a',
    '0',
    'false',
    '{"a":[1]}',
  ]);
});
