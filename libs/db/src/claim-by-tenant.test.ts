import { openTestDatabase } from '@parley/testing';
import { claimByTenant } from './claim-by-tenant';
import { type Db, createDb } from './client';
import { leaseSql } from './lease-sql';
import { column, statement } from './statement';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  await db.pool.query('create table work (tenant int, due_at timestamptz, id text)');
});
beforeEach(() => db.pool.query('truncate work'));
afterAll(() => db.close());

const work = {
  tenants: leaseSql.tenants('work-tenants', { table: 'work', where: 'true', since: 'due_at' }),
  due: statement(
    'due-work',
    `select id from work where tenant = $tenant and due_at <= now() order by due_at, id limit $limit offset $offset`,
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
/** The lengths of the sequences of rows of one tenant: `a10 b3`. */
const sequencesOf = (ids: string[]) =>
  ids
    .reduce<[string, number][]>((sequences, [tenant]) => {
      if (sequences.at(-1)?.[0] === tenant) sequences.at(-1)![1] += 1;
      else sequences.push([tenant!, 1]);
      return sequences;
    }, [])
    .map((sequence) => sequence.join(''))
    .join(' ');

test('the tenant with the oldest row comes first, and a tenant with more rows comes again after the others', async () => {
  await add('c', 3, 10);
  await add('a', 100, 20);
  await add('b', 30, 30);
  await add('later', 1, -10);
  const ids = await claimed(60);
  expect(sequencesOf(ids)).toBe('b20 a20 c3 b10 a7');
  expect(new Set(ids).size).toBe(60);
  expect(sequencesOf(await claimed(1_000))).toBe('b30 a100 c3');
});

test('many tenants share the limit, oldest first, with a minimum of ten rows each', async () => {
  for (const [at, tenant] of [...'abcdef'].entries()) await add(tenant, 20, 60 - at);
  expect(sequencesOf(await claimed(25))).toBe('a10 b10 c5');
});

test('without due work no rows are claimed', async () => {
  await add('later', 1, -10);
  expect(await claimed(10)).toEqual([]);
});
