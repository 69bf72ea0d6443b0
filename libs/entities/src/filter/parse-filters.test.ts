import type { JsonObject } from '@parley/contracts';
import { parseFilters, parseSortField } from './parse-filters';

const problem = (filters: JsonObject): string => {
  const parsed = parseFilters(filters);
  return parsed.ok
    ? 'no problem'
    : parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

test('literals and both operator sets become conditions', () => {
  expect(
    parseFilters({ 'data.a.b': 1, id: 'x', 'data.c': { $neq: 2, $gte: 'm' }, 'data.d': { x: 1 } }),
  ).toEqual({
    ok: true,
    clauses: [
      [{ field: { kind: 'data', path: ['a', 'b'] }, operator: '$eq', operand: 1 }],
      [{ field: { kind: 'id' }, operator: '$eq', operand: 'x' }],
      [{ field: { kind: 'data', path: ['c'] }, operator: '$ne', operand: 2 }],
      [{ field: { kind: 'data', path: ['c'] }, operator: '$gte', operand: 'm' }],
      [{ field: { kind: 'data', path: ['d'] }, operator: '$eq', operand: { x: 1 } }],
    ],
  });
  expect(parseFilters(undefined)).toEqual({ ok: true, clauses: [] });
});

test.each<[string, JsonObject, RegExp]>([
  [
    'an unsupported top-level field',
    { amount: 1 },
    /filters\.amount: is not a filterable field.*id, createdAt, updatedAt.*data\.<fieldName>/,
  ],
  [
    'data itself',
    { data: {} },
    /filters\.data: is not a filterable field.*id, createdAt, updatedAt/,
  ],
  [
    'a prototype key',
    JSON.parse('{"__proto__": 1}') as JsonObject,
    /filters\.__proto__: is not a filterable field.*data\.<fieldName>/,
  ],
  ['status', { status: 'active' }, /lifecycle column.*data\.status/],
  ['an empty name in a path', { 'data.a..b': 1 }, /data\.a\.\.b/],
  ['a path without a name', { 'data.': 1 }, /a path must have a name/],
  ['a path that is too long', { [`data${'.a'.repeat(17)}`]: 1 }, /at most 16 levels/],
  ['an unknown operator', { 'data.a': { $regex: 'x' } }, /unknown operator \$regex.*\$contains/],
  ['mixed keys', { 'data.a': { $gt: 1, b: 2 } }, /\$gt.*b.*cannot be mixed/],
  ['an empty operator object', { 'data.a': {} }, /empty/],
  ['$in without an array', { 'data.a': { $in: 1 } }, /\$in takes an array/],
  ['$nin without an array', { 'data.a': { $nin: { 0: 1 } } }, /\$nin takes an array/],
  ['$gt of a boolean', { 'data.a': { $gt: true } }, /\$gt takes a number or a string/],
  ['$lte of null', { 'data.a': { $lte: null } }, /\$lte takes a number or a string/],
  ['$exists of a number', { 'data.a': { $exists: 1 } }, /\$exists takes true or false/],
  ['$contains of an object', { 'data.a': { $contains: {} } }, /\$contains takes/],
  ['$contains of a column', { id: { $contains: 'e' } }, /applies only to fields of data/],
  [
    'a date as text',
    { createdAt: { $gt: '2026-01-01' } },
    /^filters\.createdAt: must be compared with a number/,
  ],
  ['a number as id', { id: { $in: ['a', 1] } }, /^filters\.id: must be compared with a string/],
  ['NUL', { 'data.a': '\u0000' }, /NUL/],
  ['half a pair', { 'data.\ud800': 1 }, /surrogate/],
  ['a number out of range', { 'data.a': { $gt: Infinity } }, /out of range/],
])('%s is refused', (_name, filters, message) => {
  expect(problem(filters)).toMatch(message);
});

test('the numbers of conditions and of listed values are limited', () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`data.f${i}`, i]));
  expect(problem(many)).toMatch(/at most 50 conditions/);
  expect(problem({ 'data.a': { $in: Array.from({ length: 1_001 }, (_, i) => i) } })).toMatch(
    /at most 1000 values/,
  );
});

test('all problems are reported together', () => {
  expect(problem({ x: 1, status: 2 })).toMatch(/filters\.x: .*; filters\.status: /);
});

test('a sort accepts the fields that filters accept', () => {
  expect(parseSortField('data.a.b')).toEqual({ kind: 'data', path: ['a', 'b'] });
  expect(parseSortField('updatedAt')).toEqual({ kind: 'updatedAt' });
  for (const field of ['status', 'amount', 'data', ''])
    expect(parseSortField(field)).toMatch(/sortable.*createdAt/);
});
