import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { parseFilters } from '../filter/parse-filters';
import { firstPos, lastPos } from '../index/pos';
import { type TestEntities, here, startEntities } from '../testing/start-entities';
import type { Statement } from '../sql';
import { type SortPosition, type SortedRequest, type WalkRow, filteredWalkSql, sortedWalkSql } from './sorted-sql';

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

const request = (filters: JsonObject, direction: 'asc' | 'desc'): SortedRequest => {
  const parsed = parseFilters(filters);
  if (!parsed.ok) throw new Error('bad filter');
  return {
    scope: here,
    type: 'item',
    deleted: false,
    clauses: parsed.clauses,
    masks: [],
    range: { lo: firstPos, hi: lastPos },
    direction,
    field: { kind: 'data', path: ['n'] },
    after: null,
    count: 3,
  };
};

/** Small data sets are answered by collecting; these are the ways for large ones, each on its own. */
const ways: Record<string, (request: SortedRequest) => Statement> = {
  'few segments': (r: SortedRequest) => sortedWalkSql(r, 'few'),
  'all segments': (r: SortedRequest) => sortedWalkSql(r, 'all'),
  'matching entries': filteredWalkSql,
};

describe.each(Object.entries(ways))('reading %s', (name, sql) => {
  test.each([
    ['asc', 'half'],
    ['desc', 'half'],
    ...(name === 'matching entries'
      ? []
      : ([
          ['asc', 'all'],
          ['desc', 'all'],
        ] as const)),
  ] as const)('gives every entity once, %s, %s of them', async (direction, which) => {
    const filters: JsonObject = which === 'half' ? { 'data.half': true } : {};
    const read = async (after: SortPosition | null): Promise<WalkRow[]> =>
      (await t.db.pool.query<WalkRow>(sql({ ...request(filters, direction), after }))).rows;
    const seen: number[] = [];
    let after: SortPosition | null = null;
    for (;;) {
      const rows = await read(after);
      const found = rows.filter(({ json }) => json !== null);
      seen.push(...found.map(({ json }) => (JSON.parse(json!) as { data: { n: number } }).data.n));
      const last = found.length === 3 ? found[2] : undefined;
      const { cut_key: key, cut_pos: pos } = rows[0]!;
      if (last === undefined && key === null) break;
      after = last === undefined ? { key, pos: pos! } : { key: last.key, pos: last.pos };
    }
    const expected = data.filter(({ half }) => which === 'all' || half).map(({ n }) => n);
    expect(seen).toEqual(expected.sort((a, b) => (direction === 'asc' ? a - b : b - a)));
  });
});
