import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { type Db, createDb } from '../client';
import { type Values, column, statement, unprepared } from '../statement';
import { checkText } from './check-text';
import { observeProcess } from './observe-process';

const folder = mkdtempSync(join(tmpdir(), 'parley-statements-'));
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase({ isPartitioned: true });
  observeProcess(folder, { isPartitioned: true });
  db = createDb({ databaseUrl: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const mine = { tenant: 1 };
const run = (text: string, values: Values = {}) =>
  db.transaction((tx) => tx.query(mine, unprepared('checked', text), values));
const refused = (text: string, values?: Values) =>
  expect(run(text, values)).rejects.toThrow(/The statement checked does not stay with tenant 1/);

test('a statement on the rows of its tenant is run, and releases its connection', async () => {
  await run(
    `insert into threads (id, tenant, environment, updated_at) values ('t', $tenant, 'development', now())`,
  );
  await run('select from threads where tenant = $tenant');
  await run('delete from threads where tenant = $tenant');
  const spans = statement('spans', 'select count(*)::int as n from threads', { n: column.int4 });
  expect((await db.acrossTenants('sweep', spans)).rows).toEqual([{ n: 0 }]);
});

test('a statement without a tenant, with another tenant, or with a tenant for one of two tables is refused', async () => {
  await refused('select from threads where id = $id', { id: 't' });
  await refused("update threads set params = '{}' where id = $id", { id: 't' });
  await refused('delete from threads where id = $id', { id: 't' });
  await refused('select from threads where tenant = $other', { other: 2 });
  await refused(
    'select from threads t left join executions e on e.thread_id = t.id where t.tenant = $tenant',
  );
  await refused('with deleted as (delete from threads where id = $id) select', { id: 't' });
  await refused(`insert into threads (id, tenant, environment, updated_at)
                 select id, $tenant, environment, now() from threads on conflict do nothing`);
});

test('statements inside a function are checked', async () => {
  await db.pool.query(`create function count_threads() returns bigint language plpgsql as
    'begin return (select count(*) from threads); end'`);
  await refused('select from (select count_threads()) c where $tenant > 0');
});

test.each([
  ['delete from events where ctid = any ($1)', /ctid/],
  [`select pg_notify('a', 'b')`, /LISTEN or NOTIFY/],
  ['update threads set updated_at = clock_timestamp() where tenant = $1', /clock_timestamp/],
  ['insert into a (b) values (now()) on conflict (b) do update set c = now()', /calls now/],
  [
    'insert into a (b) values (1) on conflict (b) do update set c = 1 where a.d < now() returning b',
    /calls now/,
  ],
])('refuses %s', (text, problem) => {
  expect(() => checkText({ name: 'checked', text })).toThrow(problem);
});

test.each([
  'insert into a (b, c) values (clock_timestamp(), now()) on conflict (b) do update set c = excluded.c returning now()',
  'update threads set updated_at = now() where tenant = $1',
])('accepts %s', (text) => {
  checkText({ name: 'checked', text });
});
