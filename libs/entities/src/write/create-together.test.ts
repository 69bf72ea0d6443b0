import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, startEntities } from '../testing/start-entities';
import { createTogether } from './create-together';

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
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, n) => n).filter((n) => n % 7 !== 0));
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

test('a statement that fails is repeated for each of its entities, so that one cannot fail the others', async () => {
  const statements: number[] = [];
  const create = createTogether<{ isPoison: boolean }, string>(async (_scope, _type, entities) => {
    statements.push(entities.length);
    if (entities.some(({ isPoison }) => isPoison)) throw new Error('poison');
    return entities.map(() => 'stored');
  });
  const outcomes = await Promise.allSettled(
    [false, false, true, false].map((isPoison) => create(here, 'any', { isPoison })),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(statements).toEqual([1, 3, 1, 1, 1]);
});

test('the failures of an unavailable database are not repeated', async () => {
  let statements = 0;
  const create = createTogether(async () => {
    statements += 1;
    throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => create(here, 'any', {})));
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  expect(statements).toBe(2);
});

test('types, environments and tenants do not wait for each other', async () => {
  let running = 0;
  let most = 0;
  const create = createTogether(async (_scope, _type, entities) => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    return entities.map(() => 'stored');
  });
  await Promise.all([
    create(here, 'a', {}),
    create(here, 'b', {}),
    create({ ...here, environment: 'production' }, 'a', {}),
    create({ ...here, tenant: 8 }, 'a', {}),
  ]);
  expect(most).toBe(4);
});
