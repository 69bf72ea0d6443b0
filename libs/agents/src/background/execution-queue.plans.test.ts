import { type Db, createDb } from '@parley/db';
import { openTestDatabase, scansOf, seedOrganization } from '@parley/testing';
import { claimExecution, findDueExecutions } from './execution-queue';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

test('statements on open executions use the index of their key, also when PostgreSQL has collected statistics without open ones', async () => {
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
  const scans = await scansOf(db, 'executions', async (noting) => {
    await findDueExecutions(noting, 10);
    await claimExecution(noting, tenant, 'one', null);
    await claimExecution(noting, tenant, 'one', { id: '5001' });
    await claimExecution(noting, tenant, 'one', { threadId: 't1001' });
  });
  const byKey = 'executions_pkey (tenant, id)';
  const ofThread = 'executions_of_thread_idx (thread_id, id)';
  const due = 'executions_due_idx (tenant, COALESCE(lease_until, created_at))';
  expect(scans).toEqual({
    // Reads the first entry of each tenant.
    'due-execution-tenants': ['executions_due_idx ()', 'executions_due_idx (tenant)'],
    'due-executions': [due, ofThread],
    'claim-execution-of-tenant': [due, ofThread, byKey],
    'claim-execution': [ofThread, byKey],
    'claim-execution-of-thread': ['executions_of_thread_idx (thread_id)', ofThread, byKey],
  });
  const { rows } = await db.pool.query(
    'select status, lease_owner from executions where id = 5001',
  );
  expect(rows).toEqual([{ status: 'running', lease_owner: 'one' }]);
});
