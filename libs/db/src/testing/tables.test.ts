import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { type Db, createDb } from '../client';
import { ownKeys, referenceTables, tenantTablesSql } from './table-distribution';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase({ isPartitioned: false });
  db = createDb({ databaseUrl: database.url });
  await db.pool.query('create schema shard_check');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const tenantTables = async (): Promise<string[]> =>
  (await db.pool.query<{ name: string }>(tenantTablesSql)).rows.map(({ name }) => name);

const distribute = (table: string, key: string) =>
  db.pool.query(
    `create table shard_check.${table} (like public.${table} including all) partition by hash (${key})`,
  );

test('every table has a distribution, and each of its primary and unique keys contains the distribution column', async () => {
  const tables = await tenantTables();
  expect(tables).toEqual(
    expect.arrayContaining(['entities', 'entity_fields', 'events', 'messages', 'tool_calls']),
  );
  const { rows } = await db.pool.query(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname <> '_prisma_migrations' order by 1`,
  );
  expect([...tables, ...referenceTables, ...Object.keys(ownKeys)].sort()).toEqual(
    rows.map(({ name }) => name),
  );
  for (const table of tables) await distribute(table, 'tenant');
  for (const [table, key] of Object.entries(ownKeys)) await distribute(table, key);
});

test('docs/scaling.md lists each table with its distribution', async () => {
  const page = readFileSync(join(__dirname, '../../../../docs/scaling.md'), 'utf8');
  const listed = (distribution: string) =>
    [
      ...new RegExp(`^\\| ${distribution}[^|]*\\|([^|]*)\\|$`, 'm')
        .exec(page)![1]!
        .matchAll(/(?<!`)\b[a-z]+(_[a-z]+)*\b/g),
    ]
      .map(([name]) => name)
      .filter((name) => name !== 'by')
      .sort();
  expect(listed('Distributed by `tenant`')).toEqual(await tenantTables());
  expect(listed('Reference')).toEqual([...referenceTables].sort());
  expect(listed('Distributed by its own key')).toEqual(Object.keys(ownKeys).sort());
});

test('a key without the tenant is refused', async () => {
  await db.pool.query('create table public.wrong (id text primary key, tenant int not null)');
  await expect(distribute('wrong', 'tenant')).rejects.toThrow(
    /must include all partitioning columns/,
  );
  await db.pool.query('drop table public.wrong');
});

test('the tenant of a row is never null', async () => {
  const { rows } = await db.pool.query(
    `select attrelid::regclass::text as table from pg_attribute
     where attname = 'tenant' and attnotnull and attrelid = any ($1::regclass[])`,
    [await tenantTables()],
  );
  expect(rows.map(({ table }) => table).sort()).toEqual(await tenantTables());
});

test('foreign keys reference a row of the same tenant, or a reference table', async () => {
  const tables = await tenantTables();
  const { rows } = await db.pool.query<{ name: string; from: string; to: string; pairs: string[] }>(
    `select conname as name, conrelid::regclass::text as from, confrelid::regclass::text as to,
       (select array_agg(a.attname || ' = ' || b.attname)
        from unnest(conkey, confkey) k(a, b)
          join pg_attribute a on a.attrelid = conrelid and a.attnum = k.a
          join pg_attribute b on b.attrelid = confrelid and b.attnum = k.b) as pairs
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(8);
  for (const { name, from, to, pairs } of rows) {
    const isKept =
      tables.includes(from) && tables.includes(to) && pairs.includes('tenant = tenant');
    expect({ name, isKept: isKept || referenceTables.includes(to) }).toEqual({
      name,
      isKept: true,
    });
  }
});

test('no table has a trigger, and no function uses NOTIFY, advisory locks or ctid', async () => {
  const { rows } = await db.pool.query(
    `select tgname as name from pg_trigger where not tgisinternal
     union all
     select proname from pg_proc where pronamespace = 'public'::regnamespace and prosrc ~ 'pg_notify|pg_advisory|ctid'`,
  );
  expect(rows).toEqual([]);
});
