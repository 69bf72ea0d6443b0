import type { JsonObject } from '@parley/client';
import { sampleArguments } from './sample-arguments';

const sample = (properties: JsonObject, required = Object.keys(properties)) =>
  sampleArguments({ type: 'object', properties, required });

test('a required argument begins with its default, its first value, or the empty value of its type', () => {
  expect(
    sample({
      byDefault: { type: 'string', default: 'a', enum: ['b'] },
      byValue: { enum: ['b', 'c'] },
      text: { type: 'string' },
      number: { type: 'number' },
      integer: { type: 'integer' },
      flag: { type: 'boolean' },
      list: { type: 'array' },
      object: { type: 'object' },
      either: { type: ['string', 'null'] },
      unknown: {},
    }),
  ).toEqual({
    byDefault: 'a',
    byValue: 'b',
    text: '',
    number: 0,
    integer: 0,
    flag: false,
    list: [],
    object: {},
    either: null,
    unknown: null,
  });
});

test('a default that is false or empty is a default', () => {
  expect(
    sample({ flag: { type: 'boolean', default: false }, text: { enum: ['a'], default: '' } }),
  ).toEqual({
    flag: false,
    text: '',
  });
});

test('optional arguments, and what is no schema, are left out', () => {
  expect(sample({ a: { type: 'string' }, b: { type: 'string' } }, ['b', 'c'])).toEqual({ b: '' });
  expect(sample({ a: true, b: null, c: 'string' })).toEqual({});
  expect(sampleArguments({})).toEqual({});
  expect(sampleArguments({ properties: [], required: 'a' })).toEqual({});
});

test.each(['constructor', 'toString'])(
  'an argument of the type %j, which does not exist, is null',
  (type) => {
    expect(sample({ a: { type } })).toEqual({ a: null });
  },
);

test('an argument may have any name', () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}}') as JsonObject;
  expect(Object.entries(sample(properties))).toEqual([['__proto__', '']]);
});
