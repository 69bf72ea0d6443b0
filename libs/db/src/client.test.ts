import { openTestDatabase, startTcpProxy } from '@parley/testing';
import { createDb, type Db, type Queryable, readDatabaseUrl } from './client';
import { isDatabaseUnavailable } from './database-unavailable';
import { prismaOf } from './prisma';
import { column, statement } from './statement';

let db: Db & { url: string };

beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 1 });
});

afterAll(() => db.close());

test('statements are observed by name, in and outside of transactions, with their failures', async () => {
  const seen: string[] = [];
  const observed = createDb({
    databaseUrl: db.url,
    async observe(name, run) {
      const result = await run().catch((error: unknown) => {
        seen.push(`${name} failed`);
        throw error;
      });
      seen.push(name);
      return result;
    },
  });
  const ofTenant = { tenant: 1 };
  const double = statement('double a number', 'select $n::int * 2 as of', { of: column.int4 });
  const divide = statement('divide by a number', 'select 1 / $n::int as of', { of: column.int4 });
  expect((await observed.query(ofTenant, double, { n: 4 })).rows).toEqual([{ of: 8 }]);
  const failed = observed.transaction(async (tx) => {
    await tx.acrossTenants('sweep', double, { n: 1 });
    await tx.query(ofTenant, divide, { n: 0 });
  });
  await expect(failed).rejects.toMatchObject({ code: '22012' });
  await observed.close();
  expect(seen).toEqual(['double a number', 'double a number', 'divide by a number failed']);
});

/** As long as a query with two filters. */
const padding = `/* ${'x'.repeat(5_000)} */`;
const ask = async (n: number): Promise<number> => {
  const sum = statement(`statement-${n}`, `select $one::int + ${n} as sum ${padding}`, {
    sum: column.int4,
  });
  return (await db.acrossTenants('sweep', sum, { one: 1 })).rows[0]!.sum;
};
const withSearch = (search: string): string => Object.assign(new URL(db.url), { search }).href;
const prepared = async (): Promise<{ count: number; chars: number; common: Date }> =>
  (
    await db.pool.query(`select count(*)::int, sum(length(statement))::int as chars,
      min(prepare_time) filter (where name = 'statement-0') as common from pg_prepared_statements`)
  ).rows[0];

test('the prepared statements of a connection are bounded: those least recently used are deallocated, and prepared again at their next use', async () => {
  await ask(0);
  const { common } = await prepared();
  let most = 0;
  for (let n = 1; n < 300; n += 1) {
    expect(await ask(n)).toBe(n + 1);
    // Concurrently, so that others wait for the connection while its statements are deallocated.
    if (n % 20 === 0)
      await Promise.all([0, 1, 2, n].map(async (one) => expect(await ask(one)).toBe(one + 1)));
    most = Math.max(most, (await prepared()).chars);
  }
  expect(most).toBeGreaterThan(150_000);
  expect(most).toBeLessThan(230_000);
  expect((await prepared()).common).toEqual(common);
  expect(await ask(1)).toBe(2);
});

test('behind PgBouncer no statement is prepared by name, and no session option is set', async () => {
  const pooled = createDb({ databaseUrl: withSearch('pgbouncer=true'), poolSize: 1 });
  const one = statement('by-name', 'select $one::int as one', { one: column.int4 });
  expect((await pooled.query({ organizationId: 'org_1' }, one, { one: 1 })).rows).toEqual([
    { one: 1 },
  ]);
  await pooled.transaction(async (tx) =>
    expect((await tx.acrossTenants('sweep', one, { one: 1 })).rows).toEqual([{ one: 1 }]),
  );
  expect(await prismaOf(pooled).$queryRaw`select 1 as one`).toEqual([{ one: 1 }]);
  const { rows } = await pooled.pool.query(
    `select (select count(*)::int from pg_prepared_statements) as prepared,
            current_setting('jit') as jit, current_setting('statement_timeout') as timeout`,
  );
  expect(rows).toEqual([{ prepared: 0, jit: 'on', timeout: '0' }]);
  await pooled.close();
});

test('behind a PgBouncer that keeps them, statements are prepared by name, and a connection with too many is replaced', async () => {
  const pooled = createDb({ databaseUrl: withSearch('pgbouncer=prepared'), poolSize: 1 });
  const state = async () =>
    (
      await pooled.pool.query(
        `select pg_backend_pid() as pid, sum(length(statement))::int as chars,
           coalesce(bool_or(name = 'statement-0'), false) as "hasFirst", current_setting('jit') as jit from pg_prepared_statements`,
      )
    ).rows[0];
  const run = (n: number) => {
    const one = statement(`statement-${n}`, `select $one::int + ${n} as sum ${padding}`, {
      sum: column.int4,
    });
    return pooled.acrossTenants('sweep', one, { one: 1 });
  };
  await run(0);
  const first = await state();
  expect(first).toMatchObject({ hasFirst: true, jit: 'on' });
  let most = 0;
  for (let n = 1; n < 60; n += 1) {
    expect((await run(n)).rows).toEqual([{ sum: n + 1 }]);
    most = Math.max(most, (await state()).chars);
  }
  expect(most).toBeGreaterThan(150_000);
  expect(most).toBeLessThan(230_000);
  expect((await state()).pid).not.toBe(first.pid);
  await pooled.close();
});

test('options in the address are added to the default session options', async () => {
  const other = createDb({
    databaseUrl: withSearch('options=-c plan_cache_mode=auto -c work_mem=5MB'),
    poolSize: 1,
  });
  const { rows } = await other.pool.query(
    `select current_setting('plan_cache_mode') as plans, current_setting('work_mem') as memory, current_setting('jit') as jit`,
  );
  expect(rows).toEqual([{ plans: 'auto', memory: '5MB', jit: 'off' }]);
  await other.close();
});

test('callbacks of afterCommit run after the commit, and never after a rollback', async () => {
  const other = createDb({ databaseUrl: db.url, poolSize: 2 });
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
  // A deferred constraint fails the commit.
  await db.pool.query(
    'create table if not exists once (n int unique deferrable initially deferred)',
  );
  const refused = db.transaction(async (tx) => {
    await tx.acrossTenants('sweep', statement('add-twice', 'insert into once values (1), (1)'));
    tx.afterCommit(() => void seen.push('refused'));
  });
  await expect(refused).rejects.toThrow('unique');
  expect(seen).toEqual(['first', 'second']);
  db.afterCommit(() => void seen.push('immediately'));
  expect(seen).toEqual(['first', 'second', 'immediately']);
  await other.close();
});

test('pgbouncer and options are removed from the address, other parameters stay', () => {
  const read = (query: string) => readDatabaseUrl(`postgres://u:p@h:6432/d${query}`);
  const plain = {
    url: 'postgres://u:p@h:6432/d',
    isPooled: false,
    preparesStatements: true,
    options: '',
  };
  expect(read('')).toEqual(plain);
  expect(read('?options=-c%20jit%3Don&sslmode=require')).toEqual({
    url: 'postgres://u:p@h:6432/d?sslmode=require',
    isPooled: false,
    preparesStatements: true,
    options: '-c jit=on',
  });
  expect(read('?pgbouncer=true')).toEqual({ ...plain, isPooled: true, preparesStatements: false });
  expect(read('?pgbouncer=prepared')).toEqual({ ...plain, isPooled: true });
  expect(read('?pgbouncer=true&sslmode=require').url).toBe(
    'postgres://u:p@h:6432/d?sslmode=require',
  );
  expect(read('?sslmode=require&pgbouncer=true').url).toBe(
    'postgres://u:p@h:6432/d?sslmode=require',
  );
  expect(read('?pgbouncer=false')).toEqual(plain);
});

test('a statement after the end of its transaction is refused, also when it was waiting for the connection', async () => {
  const insert = statement('late', 'select');
  const late: Promise<unknown>[] = [];
  const failing = db.transaction(async (tx) => {
    late.push(tx.acrossTenants('sweep', insert).catch((error: Error) => error.message));
    throw new Error('failed at once');
  });
  await expect(failing).rejects.toThrow('failed at once');
  let ended: Queryable | undefined;
  await db.transaction(async (tx) => void (ended = tx));
  late.push(ended!.acrossTenants('sweep', insert).catch((error: Error) => error.message));
  expect(await Promise.all(late)).toEqual(Array(2).fill('The transaction is over'));
  expect(db.pool.idleCount).toBe(db.pool.totalCount);
});

test('a transaction on a silent server ends after one time limit, without waiting for its rollback', async () => {
  const proxy = await startTcpProxy(db.url);
  const silent = createDb({ databaseUrl: proxy.url, timeoutMs: 4_000 });
  const startedAtMs = performance.now();
  const work = silent.transaction(async (tx) => {
    await tx.acrossTenants('sweep', statement('quick', 'select')); // opens the connection
    proxy.freeze();
    await tx.acrossTenants('sweep', statement('silent', 'select 1'));
  });
  const error: unknown = await work.catch((reason: unknown) => reason);
  const tookMs = performance.now() - startedAtMs;
  await proxy.cut();
  await silent.close();
  expect([String(error), isDatabaseUnavailable(error)]).toEqual([
    'Error: Query read timeout',
    true,
  ]);
  // The rollback would take another 6 s.
  expect(tookMs).toBeLessThan(11_000);
}, 60_000);

test('a server that cannot be reached, or has no disk space, memory or connection left, is unavailable', () => {
  const codes =
    'ECONNREFUSED ETIMEDOUT EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN 53100 53200 53300 57P03'.split(
      ' ',
    );
  for (const code of codes) {
    const error = Object.assign(new Error('x'), { code });
    expect([code, isDatabaseUnavailable(error)]).toEqual([code, true]);
    expect(
      isDatabaseUnavailable(new Error('wrapped', { cause: new AggregateError([error]) })),
    ).toBe(true);
  }
  expect(isDatabaseUnavailable(new Error('timeout expired'))).toBe(true);
  for (const code of ['23505', '57014', '22P02'])
    expect(isDatabaseUnavailable({ code })).toBe(false);
});
