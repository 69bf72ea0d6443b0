import { openTestDatabase, until } from '@parley/testing';
import { type Db, createDb } from './client';
import { isDatabaseUnavailable } from './database-unavailable';
import { shareConnections } from './share-connections';
import { column, statement } from './statement';

let db: Db & { url: string };
let holder: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 4 });
  holder = createDb({ databaseUrl: db.url, poolSize: 1 });
});
afterAll(async () => {
  await holder.close();
  await db.close();
});

const locked = statement('wait-for-lock', 'select pg_advisory_xact_lock_shared(19)::text as done', {
  done: column.text,
});
const quick = statement('quick', 'select 1 as one', { one: column.int4 });

/** Runs `work` while the statement `locked` cannot end. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const client = await holder.pool.connect();
  await client.query('select pg_advisory_lock(19)');
  try {
    await work();
  } finally {
    await client.query('select pg_advisory_unlock(19)');
    client.release();
  }
}

test('slow statements of one tenant leave connections for another', async () => {
  let ended = 0;
  let slow: Promise<unknown>[] = [];
  await whileLocked(async () => {
    slow = Array.from({ length: 20 }, () =>
      db.query({ tenant: 1 }, locked).then(() => (ended += 1)),
    );
    for (let n = 0; n < 10; n += 1)
      expect((await db.query({ tenant: 2 }, quick)).rows).toEqual([{ one: 1 }]);
    expect((await db.query({ organizationId: 'org_2' }, quick)).rows).toEqual([{ one: 1 }]);
    expect(ended).toBe(0);
  });
  await Promise.all(slow);
  expect(ended).toBe(20);
});

test('transactions count towards the share of the tenant of their first statement, together with its statements', async () => {
  const slow: Promise<unknown>[] = [];
  await whileLocked(async () => {
    for (let n = 0; n < 10; n += 1)
      slow.push(
        db.transaction((tx) => tx.query({ tenant: 1 }, locked)),
        db.query({ tenant: 1 }, locked),
      );
    for (let n = 0; n < 10; n += 1) {
      expect((await db.query({ tenant: 2 }, quick)).rows).toEqual([{ one: 1 }]);
      await db.transaction((tx) => tx.query({ tenant: 2 }, quick));
    }
  });
  await Promise.all(slow);
});

test('a tenant has two long statements or transactions at a time, and its short ones do not wait for them', async () => {
  const long = { ...locked, isLong: true };
  const work: Promise<unknown>[] = [];
  await whileLocked(async () => {
    for (let n = 0; n < 3; n += 1)
      work.push(
        db.query({ tenant: 1 }, long),
        db.transaction((tx) => tx.query({ tenant: 1 }, locked), { isLong: true }),
      );
    const waiting = async (): Promise<number> =>
      (await db.pool.query(`select from pg_locks where locktype = 'advisory' and not granted`))
        .rowCount!;
    await until(async () => (await waiting()) === 2);
    expect((await db.query({ tenant: 1 }, quick)).rows).toEqual([{ one: 1 }]);
    expect((await db.query({ tenant: 2 }, { ...quick, isLong: true })).rows).toEqual([{ one: 1 }]);
    expect(await waiting()).toBe(2);
  });
  await Promise.all(work);
});

test('a statement that gets no connection in time fails as with an unavailable database', async () => {
  const share = shareConnections({ poolSize: 1, waitMs: 50, longWaitMs: 50 });
  const free = await share.take('1');
  const refused = await share.take('1').catch((error: unknown) => error);
  expect(isDatabaseUnavailable(refused)).toBe(true);
  free();
  (await share.take('1'))();
});
