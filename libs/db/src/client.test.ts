import { createTestDatabase, type TestDatabase } from '@parley/testing';
import { createDb, type Db, type Queryable, readDatabaseUrl } from './client';
import { prismaOf } from './prisma';
import { column, statement } from './statement';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url, poolSize: 1 });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const ask = async (n: number): Promise<number> => {
  const sum = statement(`statement-${n}`, `select $1::int + ${n} as sum`, { sum: column.int4 });
  return (await db.acrossTenants('sweep', sum, [1])).rows[0]!.sum;
};
const withSearch = (search: string): string => Object.assign(new URL(database.url), { search }).href;
const prepared = async (): Promise<number> =>
  (await db.pool.query('select count(*)::int as count from pg_prepared_statements')).rows[0].count;

test('a connection keeps a bounded number of prepared statements, and those it gave up work as before', async () => {
  let most = 0;
  for (let n = 0; n < 400; n += 1) {
    expect(await ask(n)).toBe(n + 1);
    // All at once, so that others already wait for the connection while it gives them up.
    if (n % 40 === 0) await Promise.all([0, 1, 2, n].map(async (one) => expect(await ask(one)).toBe(one + 1)));
    if (n % 10 === 0) most = Math.max(most, await prepared());
  }
  expect(most).toBeGreaterThan(50);
  expect(most).toBeLessThan(160);
  expect(await ask(0)).toBe(1);
});

test('behind a PgBouncer nothing is prepared by name, and nothing is set for the session', async () => {
  const pooled = createDb({ databaseUrl: withSearch('pgbouncer=true'), poolSize: 1 });
  const one = statement('by-name', 'select $1::int as one', { one: column.int4 });
  expect((await pooled.query({ organizationId: 'org_1' }, one, [1])).rows).toEqual([{ one: 1 }]);
  await pooled.transaction(async (tx) =>
    expect((await tx.acrossTenants('sweep', one, [1])).rows).toEqual([{ one: 1 }]),
  );
  expect(await prismaOf(pooled).$queryRaw`select 1 as one`).toEqual([{ one: 1 }]);
  const { rows } = await pooled.pool.query(
    `select (select count(*)::int from pg_prepared_statements) as prepared,
            current_setting('jit') as jit, current_setting('statement_timeout') as timeout`,
  );
  expect(rows).toEqual([{ prepared: 0, jit: 'on', timeout: '0' }]);
  await pooled.close();
});

test('options of the address are added to those of a session', async () => {
  const other = createDb({ databaseUrl: withSearch('options=-c plan_cache_mode=auto -c work_mem=5MB'), poolSize: 1 });
  const { rows } = await other.pool.query(
    `select current_setting('plan_cache_mode') as plans, current_setting('work_mem') as memory, current_setting('jit') as jit`,
  );
  expect(rows).toEqual([{ plans: 'auto', memory: '5MB', jit: 'off' }]);
  await other.close();
});

test('what is to follow a commit is called after it, and never after a rollback', async () => {
  const other = createDb({ databaseUrl: database.url, poolSize: 2 });
  await db.pool.query('create table if not exists notes (n int)');
  const seen: string[] = [];
  const note = async (tx: Queryable, name: string) => {
    await tx.acrossTenants('sweep', statement('add-note', 'insert into notes values (1)'));
    tx.afterCommit(() => void seen.push(name));
  };
  const stored = async () => (await other.pool.query('select from notes')).rowCount;
  await db.transaction(async (tx) => {
    await note(tx, 'first');
    await note(tx, 'second');
    expect([seen, await stored()]).toEqual([[], 0]);
  });
  expect([seen, await stored()]).toEqual([['first', 'second'], 2]);
  const undone = db.transaction(async (tx) => {
    await note(tx, 'undone');
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  // A constraint that is checked at the commit fails it.
  await db.pool.query('create table if not exists once (n int unique deferrable initially deferred)');
  const refused = db.transaction(async (tx) => {
    await tx.acrossTenants('sweep', statement('add-twice', 'insert into once values (1), (1)'));
    tx.afterCommit(() => void seen.push('refused'));
  });
  await expect(refused).rejects.toThrow('unique');
  expect(seen).toEqual(['first', 'second']);
  db.afterCommit(() => void seen.push('at once'));
  expect(seen).toEqual(['first', 'second', 'at once']);
  await other.close();
});

test('the mark of a PgBouncer is taken out of the address, and the rest is left', () => {
  const read = (query: string) => readDatabaseUrl(`postgres://u:p@h:6432/d${query}`);
  expect(read('')).toEqual({ url: 'postgres://u:p@h:6432/d', isPooled: false, options: '' });
  expect(read('?options=-c%20jit%3Don&sslmode=require')).toEqual({
    url: 'postgres://u:p@h:6432/d?sslmode=require',
    isPooled: false,
    options: '-c jit=on',
  });
  expect(read('?pgbouncer=true')).toEqual({ url: 'postgres://u:p@h:6432/d', isPooled: true, options: '' });
  expect(read('?pgbouncer=true&sslmode=require').url).toBe('postgres://u:p@h:6432/d?sslmode=require');
  expect(read('?sslmode=require&pgbouncer=true').url).toBe('postgres://u:p@h:6432/d?sslmode=require');
  expect(read('?pgbouncer=false').isPooled).toBe(false);
});
