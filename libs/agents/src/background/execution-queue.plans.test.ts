import { type Db, createDb } from '@parley/db';
import { broadScans, genericPlans, openTestDatabase, seedOrganization } from '@parley/testing';
import { claimExecution, findDueExecutions } from './execution-queue';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

test('statements on open executions find them by their keys, also with statistics from a time without open ones', async () => {
  const { tenant } = (await seedOrganization(db.pool)).scope;
  await db.pool.query(
    `insert into threads (id, tenant, environment, updated_at) select 't' || n, $1, 'development', now() from generate_series(1001, 6000) n`,
    [tenant],
  );
  await db.pool.query(
    `insert into executions (id, tenant, environment, thread_id, agent_slug, status, input, finished_at)
     select n, $1, 'development', 't' || 1000 + n, 'main', 'succeeded', 'Hello', now() from generate_series(1, 5000) n`,
    [tenant],
  );
  await db.pool.query('analyze executions');
  await db.pool.query(
    `insert into executions (id, tenant, environment, thread_id, agent_slug, status, input, background, created_at)
     values (5001, $1, 'development', 't1001', 'main', 'queued', 'Hello', '{}', now() - interval '1 minute')`,
    [tenant],
  );
  const plans = await genericPlans(db, async (noting) => {
    await findDueExecutions(noting, 10);
    await claimExecution(noting, tenant, 'one', null);
    await claimExecution(noting, tenant, 'one', { id: '5001' });
    await claimExecution(noting, tenant, 'one', { threadId: 't1001' });
  });
  expect(plans).toHaveLength(5);
  // The statement for the tenant's oldest one reads an index in its order.
  const inOrder = /Index Scan using executions_background_idx/;
  expect(broadScans(plans, 'executions').filter((line) => !inOrder.test(line))).toEqual([]);
  const { rows } = await db.pool.query('select status, lease_owner from executions where id = 5001');
  expect(rows).toEqual([{ status: 'running', lease_owner: 'one' }]);
});
