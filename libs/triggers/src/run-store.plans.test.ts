import { createTestDatabase, broadScans, genericPlans, seedOrganization } from '@parley/testing';
import { cancelRuns } from './change-runs';
import { insertRuns } from './insert-runs';
import { claimDueRuns, claimRun, dueRuns, holdRuns, recordRuns, releaseRun, renewLease } from './run-store';
import { type TestRuns, leaseMs, startRuns } from './testing/start-runs';

let runs: TestRuns;

/** Ended runs of 20 tenants, and statistics from a time when no run was open. */
beforeAll(async () => {
  runs = await startRuns(await createTestDatabase(), (pool) => seedOrganization(pool));
  await runs.db.pool.query(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, event_id, hops, max_attempts, run_at, context, status)
     select 'ended_' || n, $1 + n % 20, 'development', 'on-order', 'ended-' || n, 'ended_' || n, n, 1, 3, now(), '{}', 'succeeded'
     from generate_series(1, 5000) n`,
    [runs.scope.tenant],
  );
  await runs.db.pool.query('analyze trigger_runs');
});
afterAll(() => runs.stop());

test('statements on open runs find them by their keys, also with statistics from a time without open runs', async () => {
  await runs.add({ entityId: 'order_1', eventId: '1' });
  const run = await runs.claim(await runs.add());
  const { scope } = runs;
  const plans = await genericPlans(runs.db, async (db) => {
    await dueRuns(db, { limit: 10, lostAfterMs: 0 });
    await claimDueRuns(db, scope, leaseMs, 10);
    await claimRun(db, run.id, leaseMs, scope);
    await renewLease(db, run, leaseMs);
    await holdRuns(db, scope, [run]);
    await recordRuns(db, scope, [{ run }], leaseMs);
    await releaseRun(db, run, 0);
    await insertRuns(db, [runs.newRun({ entityId: 'order_1', eventId: '2', cancelsPrevious: true })]);
    await cancelRuns(db, scope, [run.id]);
  });
  expect(plans).toHaveLength(11);
  expect(broadScans(plans, 'trigger_runs')).toEqual([]);
  expect((await runs.row(run.id)).status).toBe('cancelled');
});
