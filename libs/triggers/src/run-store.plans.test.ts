import { createTestDatabase, scansOf, seedOrganization } from '@parley/testing';
import { cancelRuns } from './change-runs';
import { insertRuns } from './insert-runs';
import {
  claimDueRuns,
  claimRun,
  dueRuns,
  holdRuns,
  recordRuns,
  releaseRun,
  renewLease,
} from './run-store';
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

test('statements on open runs use the index of their key, also when PostgreSQL has collected statistics without open runs', async () => {
  await runs.add({ entityId: 'order_1', eventId: '1' });
  const run = await runs.claim(await runs.add());
  const { scope } = runs;
  const scans = await scansOf(runs.db, 'trigger_runs', async (db) => {
    await dueRuns(db, { limit: 10, lostAfterMs: 0 });
    await claimDueRuns(db, scope, leaseMs, 10);
    await claimRun(db, run.id, leaseMs, scope);
    await renewLease(db, run, leaseMs);
    await holdRuns(db, scope, [run]);
    await recordRuns(db, scope, [{ run }], leaseMs);
    await releaseRun(db, run, 0);
    await insertRuns(db, [
      runs.newRun({ entityId: 'order_1', eventId: '2', cancelsPrevious: true }),
    ]);
    await insertRuns(db, [runs.newRun({ problem: 'invalid' })]);
    await cancelRuns(db, scope, [run.id]);
  });
  const byKey = ['trigger_runs_pkey (tenant, id)'];
  const ofEntity = 'trigger_runs_of_entity_idx (entity_id, event_id)';
  const due = [
    'trigger_runs_due_of_tenant_idx (tenant, COALESCE(lease_until, run_at))',
    ofEntity,
    ...byKey,
  ];
  expect(scans).toEqual({
    // Reads the first entry of each tenant.
    'due-run-tenants': [
      'trigger_runs_due_idx ()',
      'trigger_runs_due_of_tenant_idx ()',
      'trigger_runs_due_of_tenant_idx (tenant)',
      'trigger_runs_running_idx ()',
    ],
    'due-runs': due,
    'claim-due-runs': due,
    'claim-run': [ofEntity, ...byKey],
    'renew-run': byKey,
    'hold-runs': byKey,
    'record-runs': byKey,
    'release-run': byKey,
    'insert-trigger-runs': [],
    'cancel-previous-runs': [ofEntity, ...byKey],
    'record-dead-runs': byKey,
    'cancel-runs': [
      ...byKey,
      'trigger_runs_tenant_environment_created_at_idx (tenant, environment)',
    ],
  });
  expect((await runs.row(run.id)).status).toBe('cancelled');
});
