import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type Statement, type Values, orderValues } from '@parley/db';
import { createTestDatabase } from '@parley/testing';
import { parseAccess } from './access';
import { getEntities } from './read/get-entity';
import { type TestEntities, here, origin, startEntities } from './testing/start-entities';

let t: TestEntities;
let id: string;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase(), { segmentSize: 200 });
  await t.createType('item', { searchFields: ['name'] });
  for (let at = 0; at < 250; at += 1) {
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        t.entities.create(here, {
          ...origin,
          type: 'item',
          data: { n: at * 10 + i, name: `item ${at} ${i}`, tags: [`t${i}`], deep: { a: at } },
        }),
      ),
    );
    const [first] = created;
    id = first?.ok ? first.entity.value.id : '';
  }
  await t.entities.settled();
  // Many small tenants beside a large one: PostgreSQL's estimate for an average tenant is far too
  // low for the large one. Rows of different tenants are stored side by side.
  await t.db.pool.query(
    `insert into entities (id, tenant, environment, part, segment, pos, status, data, created_at, updated_at)
     select 'other_' || n, 100000 + n % 10007, 'development', 100000 + n % 10007, 0, n, 'active', '{}', 0, 0 from generate_series(1, 20000) n`,
  );
  await t.db.pool.query('vacuum analyze');
}, 120_000);
afterAll(() => t.stop());

/**
 * Records the statements that `run` executes, and returns their generic plans, which are the plans
 * used in production.
 */
async function plansOf(run: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  const client = await t.db.pool.connect();
  const statements: Statement[] = [];
  const recorder = {
    query({ tenant }: Scope, statement: Statement, given: Values = {}) {
      statements.push(statement);
      const values = orderValues(statement, given, tenant);
      return client.query({ name: statement.preparedAs, text: statement.text, values });
    },
    afterCommit() {},
  };
  try {
    await client.query('begin');
    await run(recorder as unknown as Queryable);
    const plans: string[] = [];
    for (const { text } of statements) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain (generic_plan, costs off) ${text}`,
      );
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    await client.query('rollback');
    expect(plans.length).toBeGreaterThan(0);
    return plans;
  } finally {
    client.release();
  }
}

const query = (input: object, scope: Scope = here) =>
  plansOf(async (db) =>
    expect((await t.entities.query(scope, { type: 'item', limit: 50, ...input }, db)).ok).toBe(
      true,
    ),
  );
const role = parseAccess([{ field: 'data.n', operator: 'gt', value: 5 }], []);
const access = role.ok ? role.access : undefined;

const filters: JsonObject[] = [
  { 'data.n': 5 },
  { 'data.n': { $ne: 5 } },
  { 'data.n': { $in: [1, 2] } },
  { 'data.n': { $nin: [1, 2] } },
  { 'data.n': { $gt: 5, $lte: 9 } },
  { 'data.n': null },
  { 'data.n': { $exists: true } },
  { 'data.missing': { $exists: false } },
  { 'data.name': { $contains: 'em 1' } },
  { 'data.tags': { $contains: 't1' } },
  { 'data.tags': ['t1'] },
  { 'data.deep': { a: 5 } },
  { 'data.deep.a': { $lt: 'x' } },
  { 'data.n': { $gt: 5 }, 'data.name': { $exists: true }, updatedAt: { $gt: 0 } },
  { createdAt: { $gt: 5, $lt: 6 } },
  { updatedAt: { $lt: 5 } },
  { id: { $gt: 'ent_3' } },
  { id: { $in: ['ent_343f6338926000029e5p7fldf1'] } },
];

const kinds: [string, () => Promise<string[]>][] = [
  ['list', () => plansOf((db) => t.entities.list(here, { type: 'item', limit: 50 }, db))],
  [
    'list by status',
    () => plansOf((db) => t.entities.list(here, { type: 'item', limit: 50, status: 'x' }, db)),
  ],
  [
    'list of deleted',
    () =>
      plansOf((db) => t.entities.list(here, { type: 'item', limit: 50, status: 'deleted' }, db)),
  ],
  [
    'list in a scope',
    () => plansOf((db) => t.entities.list(here, { type: 'item', limit: 50, access }, db)),
  ],
  ['get', () => plansOf((db) => t.entities.get(here, { type: 'item', id }, db))],
  [
    'get of several',
    () => plansOf((db) => getEntities(db, here, { type: 'item', ids: [id, 'ent_0'] })),
  ],
  [
    'search',
    () =>
      plansOf((db) => t.entities.search(here, { type: 'item', limit: 20, query: 'item 12' }, db)),
  ],
  [
    'create',
    () =>
      plansOf((db) => t.entities.create(here, { ...origin, type: 'item', data: { new: 1 } }, db)),
  ],
  [
    'update',
    () =>
      plansOf((db) =>
        t.entities.update(here, { ...origin, type: 'item', id, data: { n: 'x' } }, db),
      ),
  ],
  ['delete', () => plansOf((db) => t.entities.remove(here, { ...origin, type: 'item', id }, db))],
  ['related', () => plansOf((db) => t.entities.relatedIds(here, { entityId: id }, db))],
  ...filters.map((filter): [string, () => Promise<string[]>] => [
    JSON.stringify(filter),
    () => query({ filters: filter }),
  ]),
  ...['data.n', 'data.missing', 'updatedAt', 'createdAt', 'id'].flatMap((field) =>
    (['asc', 'desc'] as const).map((direction): [string, () => Promise<string[]>] => [
      `sort by ${field} ${direction}`,
      () => query({ sort: { field, direction } }),
    ]),
  ),
  [
    'filter and sort',
    () => query({ filters: { 'data.n': { $gt: 1 } }, sort: { field: 'data.name' } }),
  ],
];

test.each(kinds)('%s uses an index', async (_name, plans) => {
  for (const plan of await plans()) {
    // The tables of types and shapes are too small here for PostgreSQL to use an index.
    expect(plan).not.toMatch(/Seq Scan on (entities|entity_fields|events)/);
    expect(plan).not.toMatch(
      /(Hash|Merge) (Left |Right |Semi |Anti )?Join[^]*Index (Only )?Scan using entity_fields/,
    );
  }
});

test('a page is read in index order although PostgreSQL underestimates the tenant', async () => {
  for (const read of [
    (db: Queryable) => t.entities.list(here, { type: 'item', limit: 100 }, db),
    (db: Queryable) =>
      t.entities.query(
        here,
        { type: 'item', limit: 100, filters: { createdAt: { $lt: 1e15 } } },
        db,
      ),
  ]) {
    const [plan] = await plansOf(read);
    expect(plan).toMatch(/Index Scan Backward using entities_part_pos_tenant_key on entities/);
    expect(plan).not.toMatch(/Bitmap/);
  }
});

test('a search uses the index of words, and a filter the index of fields', async () => {
  const [search] = await plansOf((db) =>
    t.entities.search(here, { type: 'item', limit: 20, query: 'item 12' }, db),
  );
  expect(search).toMatch(/Bitmap Index Scan on entities_search_idx/);
  expect(search).not.toMatch(/BitmapAnd/);
  // The newest entities are read in index order, although PostgreSQL underestimates the tenant.
  expect(search).toMatch(/Index Scan Backward using entities_part_pos_tenant_key on entities/);
  expect(search).not.toMatch(/Bitmap Index Scan on entities_part_pos_tenant_key/);
  const [filter] = await query({ filters: { 'data.n': { $gt: 5 } } });
  expect(filter).toMatch(
    /Index Only Scan using entity_fields_tenant_part_segment_field_value_pos_idx/,
  );
});
