import type { JsonObject } from '@parley/contracts';
import { checkTypeSchema, flatSchema, readTypeSchema } from './type-schema';
import { validateMerge, validateNew } from './validate';

const flat: JsonObject = {
  name: 'string',
  age: 'number',
  vip: 'boolean',
  born: 'date',
  tags: 'array',
  extra: 'any',
};
const full: JsonObject = {
  type: 'object',
  required: ['name', 'lines'],
  properties: {
    name: { type: 'string' },
    tier: { type: 'string', enum: ['gold', 'silver'] },
    lines: {
      type: 'array',
      items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
    },
    owner: { references: 'customer' },
    either: { type: ['string', 'null'] },
  },
};
const paths = (problems: { path: string }[]): string[] => problems.map(({ path }) => path);

test('a flat map and a JSON Schema are both returned as a flat map', () => {
  expect(flatSchema(flat)).toEqual(flat);
  expect(flatSchema(full)).toEqual({
    name: 'string',
    tier: 'string',
    lines: 'array',
    owner: 'string',
    either: 'string',
  });
  expect(flatSchema({ type: 'string', properties: 'object' })).toEqual({
    type: 'string',
    properties: 'object',
  });
  expect(flatSchema({})).toEqual({});
});

test('declared fields are checked, undeclared ones accept any value', () => {
  const schema = readTypeSchema(flat);
  expect(
    validateNew(schema, {
      name: 'a',
      age: 1,
      vip: false,
      born: '2026-01-31',
      tags: [],
      extra: {},
      other: 1,
    }),
  ).toEqual([]);
  expect(validateNew(schema, { born: 1_700_000_000_000, name: null })).toEqual([]);
  expect(validateNew(schema, {})).toEqual([]);
  const wrong = validateNew(schema, { name: 1, age: '1', vip: 0, born: 'soon', tags: {} });
  expect(paths(wrong)).toEqual(['data.name', 'data.age', 'data.vip', 'data.born', 'data.tags']);
  expect(wrong[0]!.message).toBe('must be of type string');
});

test.each<[string, string, boolean]>([
  ['the last day of a February', '2026-02-28', true],
  ['the leap day of a leap year', '2028-02-29T10:00:00Z', true],
  ['a leap day of another year', '2026-02-29', false],
  ['30 February', '2026-02-30', false],
  ['31 April with a time', '2026-04-31T10:00:00+02:00', false],
  ['month 13', '2026-13-01', false],
])('%s is a date only if it exists', (_name, born, exists) => {
  expect(validateNew(readTypeSchema(flat), { born })).toHaveLength(exists ? 0 : 1);
});

test('required, enum, items and references are checked', () => {
  const schema = readTypeSchema(full);
  expect(
    validateNew(schema, {
      name: 'a',
      lines: [{ sku: 'x' }],
      tier: 'gold',
      owner: 'ent_1',
      either: null,
    }),
  ).toEqual([]);
  expect(paths(validateNew(schema, {}))).toEqual(['data.name', 'data.lines']);
  expect(
    paths(validateNew(schema, { name: null, lines: [{}, { sku: 1 }], tier: 'x', owner: 5 })),
  ).toEqual(['data.name', 'data.tier', 'data.lines.0.sku', 'data.lines.1.sku', 'data.owner']);
});

test('a merge is checked for the fields that it sets', () => {
  const schema = readTypeSchema(full);
  expect(validateMerge(schema, { tier: 'silver', free: 1 })).toEqual([]);
  expect(paths(validateMerge(schema, { name: null, tier: 'x' }))).toEqual([
    'data.name',
    'data.tier',
  ]);
});

test('invalid schemas are refused', () => {
  expect(checkTypeSchema(flat)).toEqual([]);
  expect(checkTypeSchema(full)).toEqual([]);
  expect(
    paths(checkTypeSchema({ a: 1, b: '', c: { type: 5 }, d: { enum: [] }, e: { items: null } })),
  ).toEqual(['schema.a', 'schema.b', 'schema.c.type', 'schema.d.enum', 'schema.e.items']);
});

test('an unknown type name is refused, and the message lists the known ones', () => {
  const problems = checkTypeSchema({
    name: 'strng',
    file: { type: ['blob', 'null'] },
    lines: { type: 'array', items: { type: 'object', properties: { at: 'Date' } } },
  });
  expect(paths(problems)).toEqual([
    'schema.name',
    'schema.file.type',
    'schema.lines.items.properties.at',
  ]);
  expect(problems[0]!.message).toMatch(/^"strng" is not a type name; use one of string, .*date/);
  // A stored schema with an unknown type name does not prevent writes.
  expect(validateNew(readTypeSchema({ name: 'strng' }), { name: 5 })).toEqual([]);
});

test('a value is checked against a long list in time proportional to the value', () => {
  const objects = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
  const took = (allowed: number): number => {
    const schema = readTypeSchema({ a: { items: { enum: objects(allowed) } } });
    const data = { a: Array.from({ length: 5_000 }, () => ({ n: allowed - 1 })) };
    const tries = [1, 2, 3].map(() => {
      const startedMs = performance.now();
      expect(validateNew(schema, data)).toEqual([]);
      return performance.now() - startedMs;
    });
    return Math.min(...tries);
  };
  // A comparison with each allowed value would take 200 times longer.
  // wall clock: a ratio of two times of this process.
  expect(took(4_000)).toBeLessThan(50 * took(20));
});

test('the problems of one entity and their messages are limited', () => {
  const schema = readTypeSchema({
    a: { items: { enum: Array.from({ length: 2_000 }, (_, n) => ({ n })) } },
  });
  const problems = validateNew(schema, { a: Array(1_000).fill(5) });
  expect(problems).toHaveLength(100);
  expect(problems[0]!.message).toMatch(/^must be one of \{"n":0\}, .{400,500}…$/);
  expect(paths(checkTypeSchema({ a: { type: Array(200_000).fill('x') } }))).toHaveLength(200_000);
});
