import { createTestDatabase } from '@parley/testing';
import type { PageResult } from './query-entities';
import { type TestEntities, here, startEntities } from '../testing/start-entities';

let t: TestEntities;
const ids: string[] = [];
const mebibyte = 1_048_576;

beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  await t.createType('large', { searchFields: ['title'] });
  for (let n = 0; n < 12; n += 1)
    ids.push(await t.add('large', { title: 'found', n, ...(n < 6 && { sorted: -n }) }));
  await t.db.pool.query(
    `update entities set data = data || jsonb_build_object('blob', repeat('x', 1000000))`,
  );
  // As entities from before the limit of their size.
  await t.db.pool.query(
    `update entities set data = data || jsonb_build_object('blob', repeat('y', 9000000)) where id = any ($1)`,
    [[ids[9]]],
  );
});
afterAll(() => t.stop());

type Read = (page: {
  limit: number;
  cursor?: string;
}) => Promise<PageResult | { ok: false; reason: string }>;
const sorted =
  (field: string, filters = {}): Read =>
  (page) =>
    t.entities.query(here, { type: 'large', filters, sort: { field, direction: 'asc' }, ...page });

test.each<[string, Read, (newest: string[]) => string[]]>([
  ['a list', (page) => t.entities.list(here, { type: 'large', ...page }), (newest) => newest],
  [
    'a query with a filter',
    (page) =>
      t.entities.query(here, { type: 'large', filters: { 'data.n': { $gte: 0 } }, ...page }),
    (newest) => newest,
  ],
  [
    'a query by ids',
    (page) => t.entities.query(here, { type: 'large', filters: { id: { $in: ids } }, ...page }),
    (newest) => newest,
  ],
  ['a sort by a field', sorted('data.n'), () => ids],
  ['a sort with a filter', sorted('data.n', { 'data.title': 'found' }), () => ids],
  [
    'a sort by a field that half of them lack',
    sorted('data.sorted'),
    () => [...ids.slice(0, 6).reverse(), ...ids.slice(6)],
  ],
])(
  '%s ends pages at 8 MiB, returns every entity once, and a larger one alone',
  async (name, read, order) => {
    for (const limit of name === 'a list' ? [100, 5] : [100]) {
      const found: string[] = [];
      const sizes: number[] = [];
      for (let cursor: string | undefined, hasMore = true; hasMore;) {
        const result = await read({ limit, cursor });
        if (!result.ok) throw new Error(result.reason);
        const { entities } = result.page;
        const bytes = Buffer.byteLength(result.page.itemsJson);
        expect(entities.length).toBeGreaterThan(0);
        expect(entities.length === 1 || bytes < 8 * mebibyte + 100).toBe(true);
        sizes.push(entities.length);
        found.push(...entities.map(({ id }) => id));
        ({ cursor, hasMore } = result.page);
      }
      expect(found).toEqual(order(ids.toReversed()));
      expect(Math.max(...sizes)).toBeGreaterThan(2);
    }
  },
);

test('a search returns what fits', async () => {
  const result = await t.entities.search(here, { type: 'large', query: 'found', limit: 100 });
  if (!result.ok) throw new Error(result.reason);
  expect(result.list.entities.map(({ id }) => id)).toEqual([ids[11], ids[10]]);
  await t.db.pool.query(`delete from entities where id = any ($1)`, [ids.slice(-2)]);
  const next = await t.entities.search(here, { type: 'large', query: 'found', limit: 100 });
  expect(next.ok && next.list.entities.map(({ id }) => id)).toEqual([ids[9]]);
});
