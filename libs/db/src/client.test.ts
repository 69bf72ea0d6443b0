import { createTestDatabase, type TestDatabase } from '@parley/testing';
import { createDb, type Db } from './client';

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
  const { rows } = await db.pool.query({ name: `statement-${n}`, text: `select $1::int + ${n} as sum`, values: [1] });
  return rows[0].sum;
};
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
