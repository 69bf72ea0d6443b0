import { type Db, createDb } from '@parley/db';
import { genericPlans, openTestDatabase } from '@parley/testing';
import { removeOldStatuses } from './retention';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

test('old statuses are deleted in batches, found by index', async () => {
  await db.pool.query(
    `insert into provider_statuses (provider, external_id, status, rank, updated_at)
     select 'kapso', n, 'delivered', 1, now() - n * interval '1 hour' + interval '1 minute' from generate_series(1, 3000) n`,
  );
  await db.pool.query('analyze provider_statuses');
  const [plan] = await genericPlans(db, async (noting) =>
    expect(await removeOldStatuses(noting, 20)).toBe(2_520),
  );
  expect(plan).toContain('Index Scan using provider_statuses_updated_at_idx');
  expect(plan).not.toMatch(/Seq Scan/);
  expect((await db.pool.query('select count(*)::int as n from provider_statuses')).rows[0].n).toBe(
    480,
  );
});
