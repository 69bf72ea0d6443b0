import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { parseAccess } from '../access';
import { type TestEntities, here, startEntities } from '../testing/start-entities';
import type { QueryInput } from './query-entities';

let t: TestEntities;
const ids: string[] = [];

beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  for (const type of ['few', 'many', 'none']) await t.createType(type);
  for (let n = 0; n < 40; n += 1) {
    ids.push(
      await t.add(
        'few',
        { n, tags: [`t${n % 3}`] },
        n < 8 ? 'draft' : n < 12 ? 'deleted' : undefined,
      ),
    );
  }
  await addMany(await t.add('many', { half: true }), 15_000);
});
afterAll(() => t.stop());

/**
 * Copies an entity. Odd copies have no field `half`, but its index entry: the index
 * may find too many.
 */
async function addMany(id: string, count: number): Promise<void> {
  const copies = `from entities e, generate_series(1, ${count}) n where e.id = '${id}'`;
  await t.db.pool.query(
    `insert into entity_fields (tenant, part, segment, field, value, pos)
     select e.tenant, e.part, e.segment + n / 100, f.field, f.value, e.pos + n from entity_fields f, entities e, generate_series(1, ${count}) n
     where e.id = '${id}' and f.tenant = e.tenant and f.part = e.part and f.pos = e.pos`,
  );
  await t.db.pool.query(
    `insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
     select 'ent_' || lpad(to_hex(e.pos + n), 16, '0') || 'x', e.tenant, e.environment, e.part, e.segment + n / 100, e.pos + n, e.status,
       case when n % 2 = 0 then e.data else '{}' end, e.search, e.created_at, e.updated_at ${copies}`,
  );
  await t.db.pool.query('analyze entities, entity_fields');
}

async function totalOf(
  input: Omit<QueryInput, 'limit' | 'type'> & { type?: string; limit?: number },
) {
  const result = await t.entities.query(here, { type: 'few', limit: 3, count: 'exact', ...input });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.page.total;
}
const scopeOf = (field: string, operator: string, value: number) => {
  const parsed = parseAccess([{ field, operator, value }], []);
  return parsed.ok ? parsed.access : undefined;
};

test.each<[string, Parameters<typeof totalOf>[0], number]>([
  ['all but deleted entities', {}, 36],
  ['a status', { status: 'draft' }, 8],
  ['deleted entities', { status: 'deleted' }, 4],
  ['a filter', { filters: { 'data.tags': { $contains: 't1' } } }, 12],
  ['two filters', { filters: { 'data.tags': { $contains: 't1' }, 'data.n': { $gte: 20 } } }, 6],
  ['alternatives', { anyOf: { 'data.n': 1, 'data.tags': { $contains: 't2' } } }, 12],
  ['a sort by a field that all have', { sort: { field: 'data.n' } }, 36],
  ['nothing found', { filters: { 'data.n': 99 } }, 0],
  ['a type without entities', { type: 'none' }, 0],
  ['the scope of a role', { access: scopeOf('data.n', 'gt', 29) }, 10],
  ['the largest page', { limit: 100 }, 36],
])('counts %s, exactly also as an estimate', async (_name, input, expected) => {
  expect(await totalOf(input)).toBe(expected);
  expect(await totalOf({ ...input, count: 'estimated' })).toBe(expected);
});

test('counts by id and time of creation', async () => {
  const { createdAt } = (await entityOf(ids[20]!)) as { createdAt: number };
  expect(
    await totalOf({ filters: { id: { $in: [ids[0]!, ids[9]!, ids[30]!, 'ent_unknown'] } } }),
  ).toBe(2);
  const before = { createdAt: { $lt: createdAt } };
  expect(await totalOf({ filters: before })).toBe(16);
  expect(await totalOf({ filters: before, count: 'estimated' })).toBe(16);
});

async function entityOf(id: string) {
  const result = await t.entities.get(here, { type: 'few', id });
  return result.ok ? result.entity.value : null;
}

test('every page has the same total, and pages without `count` have none', async () => {
  const first = await t.entities.list(here, { type: 'few', limit: 30, count: 'exact' });
  if (!first.ok) throw new Error(first.reason);
  const { cursor } = first.page;
  const second = await t.entities.list(here, { type: 'few', limit: 30, count: 'exact', cursor });
  const third = await t.entities.list(here, { type: 'few', limit: 30, cursor });
  const bodies = [first, second, third].map(
    (one) => JSON.parse((one as typeof first).page.json) as JsonObject,
  );
  expect(bodies.map(({ total }) => total)).toEqual([36, 36, undefined]);
});

test.each<[JsonObject, number]>([
  [{}, 15_001],
  [{ 'data.half': true }, 7_501],
  [{ createdAt: { $gt: 0 } }, 15_001],
])('of more than 10,000 entities, %j is estimated within 15 percent', async (filters, expected) => {
  expect(await totalOf({ type: 'many', filters })).toBe(expected);
  const estimate = (await totalOf({ type: 'many', filters, count: 'estimated' }))!;
  expect(estimate).toBeGreaterThan(expected * 0.85);
  expect(estimate).toBeLessThan(expected * 1.15);
});
