import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, rounds } from '@parley/testing';
import { encodeValue } from './field-index/encode-value';
import { shapeField, updatedAtField } from './field-index/field-hash';
import { indexRows } from './field-index/index-rows';
import { type TestEntities, here, origin, startEntities } from './testing/start-entities';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
});
afterAll(() => t.stop());

const create = async (type: string, data: { [key: string]: number | boolean }): Promise<string> => {
  const created = await t.entities.create(here, { ...origin, type, data });
  if (!created.ok) throw new Error(created.reason);
  return created.entity.value.id;
};

/** For each of two entities. */
const updateRounds = rounds(50, 500);
/** The number of times that all pages are read. */
const pagingRounds = rounds(5, 25);

test(`8 concurrent updates of different keys are all kept, in ${2 * updateRounds} rounds`, async () => {
  await t.createType('counter');
  const ids = await Promise.all([create('counter', {}), create('counter', {})]);
  await t.index('counter');
  const updateInRounds = async (id: string): Promise<void> => {
    for (let round = 1; round <= updateRounds; round += 1) {
      await Promise.all(
        Array.from({ length: 8 }, (_, key) =>
          t.entities.update(here, { ...origin, type: 'counter', id, data: { [`k${key}`]: round } }),
        ),
      );
      if (round % 50 > 0) continue;
      const found = await t.entities.get(here, { type: 'counter', id });
      const expected = Object.fromEntries(
        Array.from({ length: 8 }, (_, key) => [`k${key}`, round]),
      );
      expect(found.ok && found.entity.value.data).toEqual(expected);
    }
  };
  await Promise.all(ids.map(updateInRounds));
  const { rows } = await t.db.pool.query(
    `select e.id, (select count(*)::int from entity_fields f where f.part = e.part and f.segment = e.segment and f.pos = e.pos) as fields,
       (select count(*)::int from events where entity_id = e.id) as events from entities e`,
  );
  // 8 keys, the status, the update time and the shape: no entries of earlier values are left.
  expect(rows.map(({ fields, events }) => [fields, events])).toEqual([
    [11, updateRounds * 8 + 1],
    [11, updateRounds * 8 + 1],
  ]);
}, 600_000);

test('entities that change while they are indexed have the entries of their last state, and are found by it', async () => {
  await t.createType('indexed');
  const ids: string[] = [];
  for (let n = 0; n < 30; n += 1) ids.push(await create('indexed', { n, seen: false }));
  for (let round = 1; round <= 15; round += 1) {
    await t.index('indexed');
    await t.db.pool.query(`delete from entity_fields`);
    await t.db.pool.query(`update entity_types set indexed_to = 0 where slug = 'indexed'`);
    await Promise.all([
      t.index('indexed'),
      ...ids.map(async (id, n) => {
        // wall clock: a change at a random moment of the indexing.
        await sleep(Math.random() * 25);
        const target = { ...origin, type: 'indexed', id };
        if (n % 5 === round % 5) return t.entities.remove(here, target);
        return t.entities.update(here, {
          ...target,
          status: 'active',
          data: { seen: round, [`k${n % 3}`]: round },
        });
      }),
    ]);
    const { rows } = await t.db.pool.query(
      `select data, status, updated_at, part = (select no from entity_types where slug = 'indexed') as "isActive",
         (select coalesce(array_agg(field || ' ' || encode(value, 'hex')), '{}') from entity_fields f
          where f.part = e.part and f.segment = e.segment and f.pos = e.pos) as entries from entities e where id = any($1)`,
      [ids],
    );
    const elsewhere = await t.db.pool.query(
      'select count(*)::int as n from entity_fields f where not exists (select from entities e where e.part = f.part and e.pos = f.pos)',
    );
    expect(elsewhere.rows[0].n).toBe(0);
    for (const { data, status, updated_at: updatedAt, entries } of rows) {
      const { fields, values, shape } = indexRows(data, status);
      const expected = [...fields, shapeField, updatedAtField].map(
        (field, at) =>
          `${field} ${[...values, shape.key, encodeValue(Number(updatedAt))][at]!.toString('hex')}`,
      );
      expect(entries.toSorted()).toEqual(expected.toSorted());
    }
    const found = await t.entities.query(here, {
      type: 'indexed',
      limit: 100,
      filters: { 'data.seen': round },
    });
    expect(found.ok && found.page.entities.length).toBe(24);
  }
}, 120_000);

test('segments follow the order of creation with concurrent writers', async () => {
  await t.createType('busy');
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 40; n += 1) await create('busy', { n });
    }),
  );
  await t.entities.settled();
  const { rows } = await t.db.pool.query(
    `select max(segment) as segments, count(*)::int as count, count(*) filter (where segment < before)::int as misplaced
     from (select segment, lag(segment) over (order by pos) as before from entities
           where part = (select no from entity_types where slug = 'busy')) e`,
  );
  expect(rows[0]).toMatchObject({ count: 320, misplaced: 0 });
  expect(rows[0].segments).toBeGreaterThan(5);
});

test('a new segment waits for writers that may still add an older entity to the previous one', async () => {
  await t.createType('open');
  const segment = async (): Promise<number> =>
    (await t.db.pool.query(`select segment from entity_types where slug = 'open'`)).rows[0].segment;
  const fill = async (): Promise<void> => {
    for (let n = 0; n < 8; n += 1) await create('open', { n });
    await t.entities.settled();
  };
  await t.db.transaction(async (tx) => {
    await t.entities.create(here, { ...origin, type: 'open', data: {} }, tx);
    await fill();
    expect(await segment()).toBe(0);
  });
  await fill();
  expect(await segment()).toBeGreaterThan(0);
});

describe('pages while others write', () => {
  const base: string[] = [];
  beforeAll(async () => {
    await t.createType('paged');
    for (let n = 0; n < 60; n += 1) base.push(await create('paged', { n: n % 4, kept: true }));
    // All further entities are created in the same millisecond, an hour in the future.
    await t.entities.settled();
    await t.db.pool.query(`update entity_types set segment = segment + 1,
      segment_floor = (extract(epoch from now()) * 1000)::bigint + 3600000 where slug = 'paged'`);
    for (let n = 0; n < 60; n += 1) base.push(await create('paged', { n: n % 4, kept: true }));
  });

  test.each([
    ['newest first', {}],
    ['filtered', { filters: { 'data.kept': true } }],
    ['filtered by two', { filters: { 'data.kept': true, 'data.n': { $gte: 0 } } }],
    ['by a field, ascending', { sort: { field: 'data.n', direction: 'asc' as const } }],
    [
      'by a field, descending, filtered',
      { sort: { field: 'data.n' }, filters: { 'data.kept': true } },
    ],
    ['oldest first', { sort: { field: 'createdAt', direction: 'asc' as const } }],
    ['by a field that no entity has', { sort: { field: 'data.none' } }],
  ])(
    '%s: an entity that exists all the time is returned exactly once',
    async (_name, input) => {
      let isPaging = true;
      const write = async (): Promise<void> => {
        const created: string[] = [];
        for (let n = 0; isPaging; n += 1) {
          // Bounded, so that a slow machine does not create entities faster than it reads pages.
          if (n < 500) created.push(await create('paged', { n: n % 4, kept: n % 2 === 0 }));
          const id = created[Math.floor(Math.random() * created.length)]!;
          if (n % 3 === 0) await t.entities.remove(here, { ...origin, type: 'paged', id });
          if (n % 3 === 1)
            await t.entities.update(here, {
              ...origin,
              type: 'paged',
              id,
              status: 'back',
              data: { n: n % 5 },
            });
          // The entities that exist all the time are changed as well, but not in the fields that
          // pages filter and sort by.
          const baseId = base[Math.floor(Math.random() * base.length)]!;
          await t.entities.update(here, {
            ...origin,
            type: 'paged',
            id: baseId,
            data: { touched: n },
          });
          // wall clock: the pace of the writers, which must be slower than reading a page.
          await sleep(4);
        }
      };
      const writers = Promise.all([write(), write()]);
      try {
        for (let round = 0; round < pagingRounds; round += 1) {
          const seen = new Map<string, number>();
          for (let cursor: string | undefined; ;) {
            const result = await t.entities.query(here, {
              type: 'paged',
              limit: 20,
              cursor,
              ...input,
            });
            if (!result.ok) throw new Error(JSON.stringify(result));
            for (const { id } of result.page.entities) seen.set(id, (seen.get(id) ?? 0) + 1);
            cursor = result.page.cursor;
            if (!result.page.hasMore) break;
          }
          expect(base.filter((id) => seen.get(id) !== 1)).toEqual([]);
        }
      } finally {
        isPaging = false;
        await writers;
      }
    },
    240_000,
  );
});
