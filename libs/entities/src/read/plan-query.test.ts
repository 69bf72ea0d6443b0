import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@parley/contracts';
import { parseFilters, parseSortField } from '../filter/parse-filters';
import { encodeValue } from '../field-index/encode-value';
import { indexRows } from '../field-index/index-rows';
import { here } from '../testing/start-entities';
import type { PageStart } from './cursor';
import { type Direction, type QueryPlan, planQuery } from './plan-query';
import { pageSql } from './query-sql';

interface PlanOptions {
  sort?: string;
  direction?: Direction;
  after?: PageStart;
}

function plan(
  filters: JsonObject,
  { sort, direction = 'desc', after }: PlanOptions = {},
): QueryPlan {
  const parsed = parseFilters(filters);
  const field = sort === undefined ? null : parseSortField(sort);
  if (!parsed.ok || typeof field === 'string') throw new Error('bad query');
  return planQuery({
    scope: here,
    type: 'item',
    deleted: false,
    clauses: parsed.clauses,
    masks: [],
    sort: field?.kind === 'data' || field?.kind === 'updatedAt' ? field : null,
    direction,
    after: after ?? null,
    limit: 2,
    maxBytes: 8 * 1_048_576,
  });
}

test('conditions on the same field share one scan, and each further field has its own', () => {
  const { scans } = plan({
    'data.n': { $gte: 5, $lt: 9 },
    'data.s': { $in: ['a', null] },
    createdAt: { $gt: 0 },
  });
  const hex = scans.map(({ keyRanges }) =>
    keyRanges.map(({ lo, hi }) => [lo.toString('hex'), hi.toString('hex')]),
  );
  expect(hex).toEqual([
    [
      ['10', '1000'],
      ['4061', '406100'],
    ],
    [['30c014000000000000', '30c022000000000000']],
  ]);
  expect(scans.map(({ field, absent }) => [typeof field, absent.length])).toEqual([
    ['number', 1],
    ['number', 0],
  ]);
});

test('filters on createdAt and id limit the positions, and so does the cursor in the order of creation', () => {
  const position = (ms: number): bigint => BigInt(ms) << 21n;
  const after = { key: null, pos: String(position(7)) };
  const times = { createdAt: { $gte: 5, $lte: 9 } };
  expect(plan(times).positions).toEqual({ lo: position(5), hi: position(10) - 1n });
  expect(plan(times, { after }).positions).toEqual({ lo: position(5), hi: position(7) - 1n });
  expect(plan(times, { after, direction: 'asc' }).positions).toEqual({
    lo: position(7) + 1n,
    hi: position(10) - 1n,
  });
  expect(plan(times, { after, sort: 'data.n' }).positions).toEqual(plan(times).positions);
  expect(plan({ id: { $in: ['ent_0000000000000007x', 'nothing'] } }).listed).toEqual([7n]);
});

test.each<[string, JsonObject, { bounded: boolean; collects: boolean }]>([
  ['no filter', {}, { bounded: false, collects: false }],
  [
    'a range of the field itself',
    { 'data.n': { $gt: 1, $lt: 5 } },
    { bounded: true, collects: false },
  ],
  [
    'several ranges of the field itself',
    { 'data.n': { $in: [1, 5] } },
    { bounded: true, collects: true },
  ],
  [
    'a filter that matches entities without the field',
    { 'data.n': { $ne: 5 } },
    { bounded: false, collects: true },
  ],
  [
    'a substring of the field',
    { 'data.n': { $contains: 'x' } },
    { bounded: false, collects: true },
  ],
  [
    'a range and another field',
    { 'data.n': { $gt: 1 }, 'data.s': 'a' },
    { bounded: true, collects: true },
  ],
  ['a time of creation', { createdAt: { $gt: 1 } }, { bounded: false, collects: false }],
])('the plan of a sort by a field depends on the filters: %s', (_name, filters, expected) => {
  const { sort } = plan(filters, { sort: 'data.n' });
  expect({ bounded: sort?.keys !== null, collects: sort?.collects }).toEqual(expected);
  expect(sort?.merges).toEqual(
    expected.collects ? ['few', 'all', 'deep', 'matching'] : ['few', 'all'],
  );
});

test('the example in ADR 3 agrees with the code', () => {
  const adr = readFileSync(join(__dirname, '../../../../docs/adr/0003-field-indexes.md'), 'utf8');
  const block = (language: string): string => adr.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!;
  const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const { filters, limit } = JSON.parse(block('json')) as { filters: JsonObject; limit: number };
  const example = { ...plan(filters), limit };
  const { text } = pageSql(example).statement;
  let rest = oneLine(text);
  for (const fragment of block('sql').split('…').map(oneLine)) {
    expect(rest).toContain(fragment);
    rest = rest.slice(rest.indexOf(fragment) + fragment.length);
  }
  for (const { field, lo, hi } of example.scans[0]!.keyRanges)
    expect(adr).toContain(`[ field ${field} from ${lo.toString('hex')} to ${hi.toString('hex')} ]`);
  const { fields, values, shape } = indexRows({ total: 1200, status: 'paid' }, 'active');
  const keys = values.map((key) => key.toString('hex').replace(/^../, '$& '));
  for (const [index, key] of keys.entries())
    expect(adr).toContain(`| ${fields[index]} | \`${key}\` |`);
  expect(adr).toContain(`| 3 | \`${shape.key.toString('hex')}\` |`);
  expect(adr).toContain(`| 2 | \`30 ${encodeValue(1795000000123).toString('hex').slice(2)}\` |`);
});
