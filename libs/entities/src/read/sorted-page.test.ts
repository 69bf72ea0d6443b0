import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { parseFilters } from '../filter/parse-filters';
import type { Built } from '../sql';
import { type TestEntities, here, startEntities } from '../testing/start-entities';
import type { PageStart } from './cursor';
import { type MergedRow, mergeSql } from './merge-index-sql';
import { type Direction, type Merge, planQuery } from './plan-query';

let t: TestEntities;
let data: { n: number; half: boolean }[];
beforeAll(async () => {
  t = await startEntities(await createTestDatabase(), { segmentSize: 4 });
  await t.createType('item');
  data = Array.from({ length: 60 }, (_, i) => ({ n: (i * 37) % 41, half: i % 2 === 0 }));
  for (const one of data) await t.add('item', one);
  await t.add('item', { half: true });
});
afterAll(() => t.stop());

const buildMerge = (
  filters: JsonObject,
  direction: Direction,
  after: PageStart | null,
  merge: Merge,
): Built<MergedRow> => {
  const parsed = parseFilters(filters);
  if (!parsed.ok) throw new Error('bad filter');
  const plan = planQuery({
    scope: here,
    type: 'item',
    deleted: false,
    clauses: parsed.clauses,
    masks: [],
    sort: { kind: 'data', path: ['n'] },
    direction,
    after,
    limit: 2,
    maxBytes: 8 * 1_048_576,
  });
  return mergeSql(plan, plan.sort!, merge);
};

/**
 * Queries of small data sets collect all matches. The merges are for large data sets, so each merge
 * is tested separately.
 */
const merges: Record<string, Merge> = {
  'few segments': 'few',
  'all segments': 'all',
  'few segments to their end': 'deep',
  'matching entries': 'matching',
};

describe.each(Object.entries(merges))('reading %s', (name, merge) => {
  test.each([
    ['asc', 'half'],
    ['desc', 'half'],
    ...(name === 'matching entries'
      ? []
      : ([
          ['asc', 'all'],
          ['desc', 'all'],
        ] as const)),
  ] as const)('returns every entity once: direction %s, filter %s', async (direction, which) => {
    const filters: JsonObject = which === 'half' ? { 'data.half': true } : {};
    const read = async (after: PageStart | null): Promise<MergedRow[]> => {
      const { statement, values } = buildMerge(filters, direction, after, merge);
      return (await t.db.query(here, statement, values)).rows;
    };
    const seen: number[] = [];
    let after: PageStart | null = null;
    for (;;) {
      const rows = await read(after);
      const found = rows.filter(({ json }) => json !== null);
      seen.push(...found.map(({ json }) => (JSON.parse(json!) as { data: { n: number } }).data.n));
      const last = found.length === 3 ? found[2] : undefined;
      const { boundary_key: key, boundary_pos: pos } = rows[0]!;
      if (last === undefined && key === null) break;
      after = last === undefined ? { key, pos: pos! } : { key: last.key, pos: last.pos! };
    }
    const expected = data.filter(({ half }) => which === 'all' || half).map(({ n }) => n);
    expect(seen).toEqual(expected.sort((a, b) => (direction === 'asc' ? a - b : b - a)));
  });
});

test.each<[string, JsonObject, (n: number) => boolean]>([
  ['a key range', { $gt: 7, $lte: 20 }, (n) => n > 7 && n <= 20],
  ['several key ranges', { $in: [3, 9, 30, 500] }, (n) => [3, 9, 30].includes(n)],
  ['a key range with an excluded value', { $ne: 5, $gte: 4 }, (n) => n >= 4 && n !== 5],
  ['all entities with the field', { $exists: true }, () => true],
  ['nothing', { $gt: 5, $lt: 5 }, () => false],
])('a filter on the sorted field allows %s', async (_name, filter, matches) => {
  for (const direction of ['asc', 'desc'] as const) {
    for (const more of [{}, { 'data.half': true }] as JsonObject[]) {
      const found: number[] = [];
      for (let cursor: string | undefined, hasMore = true; hasMore;) {
        const filters = { 'data.n': filter, ...more };
        const sort = { field: 'data.n', direction };
        const result = await t.entities.query(here, {
          type: 'item',
          limit: 4,
          cursor,
          filters,
          sort,
        });
        if (!result.ok) throw new Error(result.reason);
        found.push(...result.page.entities.map((entity) => entity.data.n as number));
        ({ cursor, hasMore } = result.page);
      }
      const expected = data
        .filter(({ n, half }) => matches(n) && (half || !('data.half' in more)))
        .map(({ n }) => n);
      expect(found).toEqual(expected.sort((a, b) => (direction === 'asc' ? a - b : b - a)));
    }
  }
});
