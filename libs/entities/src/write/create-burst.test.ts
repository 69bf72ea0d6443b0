import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, startEntities } from '../testing/start-entities';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase(), { segmentSize: 1_000 });
  await t.createType('strict', { schema: { n: 'number' } });
});
afterAll(() => t.stop());

test('creates of a burst share transactions, and each has its own result, event and origin', async () => {
  const burst = Array.from({ length: 100 }, (_, n) =>
    t.entities.create(here, {
      type: 'strict',
      actor: { type: 'webhook', provider: `p${n}` },
      hops: n % 3,
      root: `root ${n}`,
      requestId: `req ${n}`,
      status: n % 10 === 0 ? 'deleted' : undefined,
      data: n % 7 === 0 ? { n: 'no number' } : { n },
    }),
  );
  const results = await Promise.all(burst);
  results.forEach((result, n) => expect(result.ok).toBe(n % 7 !== 0));
  const { rows } = await t.db.pool.query(
    `select e.data->'n' as n, e.status, e.part < 0 as "isDeleted", v.actor->>'provider' as provider, v.hops, v.root, v.request_id,
       v.payload->'data' = e.data as "hasData", e.xmin::text as transaction
     from entities e join events v on v.entity_id = e.id order by e.pos`,
  );
  expect(rows.map(({ n }) => n)).toEqual(
    Array.from({ length: 100 }, (_, n) => n).filter((n) => n % 7 !== 0),
  );
  for (const { n, ...row } of rows) {
    expect(row).toMatchObject({
      status: n % 10 === 0 ? 'deleted' : 'active',
      isDeleted: n % 10 === 0,
      provider: `p${n}`,
      hops: n % 3,
      root: `root ${n}`,
      request_id: `req ${n}`,
      hasData: true,
    });
  }
  // At most 64 are stored by each statement after the first one.
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThanOrEqual(3);
});

test('creates of other types and environments in the same burst are not mixed', async () => {
  await t.createType('other', { schema: { n: 'string' } });
  const create = (type: string, n: number | string, environment: 'development' | 'production') =>
    t.entities.create({ ...here, environment }, { type, actor: { type: 'system' }, data: { n } });
  const results = await Promise.all([
    create('strict', 1, 'development'),
    create('other', 'one', 'development'),
    create('strict', 2, 'production'),
    create('other', 'two', 'development'),
  ]);
  // The types exist in one environment.
  expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true]);
  const { rows } = await t.db.pool.query(
    `select t.slug, e.data->'n' as n from entities e join entity_types t on t.no = abs(e.part) where t.slug = 'other' order by e.pos`,
  );
  expect(rows).toEqual([
    { slug: 'other', n: 'one' },
    { slug: 'other', n: 'two' },
  ]);
});
