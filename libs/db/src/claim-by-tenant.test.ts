import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { claimByTenant } from './claim-by-tenant';
import { type Db, createDb } from './client';
import { leaseSql } from './lease-sql';
import { column, statement } from './statement';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  await db.pool.query('create table work (tenant int, due_at timestamptz, id text)');
});
beforeEach(() => db.pool.query('truncate work'));
afterAll(async () => {
  await db.close();
  await database.drop();
});

const work = {
  tenants: leaseSql.tenants('work-tenants', { table: 'work', where: 'true', since: 'due_at' }),
  due: statement(
    'due-work',
    `select id from work where tenant = $1 and due_at <= now() order by due_at, id limit $2 offset $3`,
    { id: column.text },
  ),
};
const claimed = async (limit: number) => (await claimByTenant(db, work, limit)).map(({ id }) => id);
const add = (tenant: string, count: number, minutesAgo: number) =>
  db.pool.query(
    `insert into work select ascii($1), now() - $3 * interval '1 minute' + n * interval '1 ms', $1 || lpad(n::text, 3, '0')
     from generate_series(1, $2::int) n`,
    [tenant, count, minutesAgo],
  );
/** How many rows of which tenant in a row: `a10 b3`. */
const turnsOf = (ids: string[]) =>
  ids
    .reduce<[string, number][]>((turns, [tenant]) => {
      if (turns.at(-1)?.[0] === tenant) turns.at(-1)![1] += 1;
      else turns.push([tenant!, 1]);
      return turns;
    }, [])
    .map((turn) => turn.join(''))
    .join(' ');

test('the tenant whose row is oldest comes first, and one with more comes again after the others', async () => {
  await add('c', 3, 10);
  await add('a', 100, 20);
  await add('b', 30, 30);
  await add('later', 1, -10);
  const ids = await claimed(60);
  expect(turnsOf(ids)).toBe('b20 a20 c3 b10 a7');
  expect(new Set(ids).size).toBe(60);
  expect(turnsOf(await claimed(1_000))).toBe('b30 a100 c3');
});

test('many tenants share what is left of the limit, the oldest first', async () => {
  for (const [at, tenant] of [...'abcdef'].entries()) await add(tenant, 20, 60 - at);
  expect(turnsOf(await claimed(25))).toBe('a10 b10 c5');
});

test('without due work one statement is run', async () => {
  await add('later', 1, -10);
  expect(await claimed(10)).toEqual([]);
});
