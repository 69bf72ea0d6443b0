import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { maxHops } from '@parley/events';

const changedRow = { id: column.text, triggerSlug: column.text };
type ChangedRun = RowOf<typeof changedRow>;

/** Ids of runs, and slugs of triggers that stand for their runs. */
const wantedSql = `r.tenant = $1 and r.environment = $2::"Environment"
  and (r.id = any($3) or r.trigger_slug = any($3) and r.status = any($4::text[]::"TriggerRunStatus"[]))`;

const retry = statement(
  'retry-runs',
  `with changed as (
     update trigger_runs r set status = 'scheduled', error = null, finished_at = null, lease_until = null,
       takeovers = 0, enqueued_at = null, run_at = date_trunc('milliseconds', now()),
       max_attempts = greatest(r.max_attempts, r.attempts + 1)
     where ${wantedSql} and r.status in ('dead', 'cancelled') and r.hops <= ${maxHops}
     returning r.id, r.trigger_slug as "triggerSlug")
   select * from changed order by id`,
  changedRow,
);

/**
 * Makes dead and cancelled runs due again, now and for one more try; a worker's next sweep begins them. Steps that are
 * done stay done. `wanted` has ids of runs, and slugs of triggers whose dead runs are meant. Runs that were stopped at the
 * end of a chain of triggers stay as they are. Returns the runs that it changed, by id.
 */
export async function retryRuns(db: Queryable, scope: Scope, wanted: readonly string[]): Promise<ChangedRun[]> {
  return (await db.query(scope, retry, [scope.tenant, scope.environment, wanted, ['dead']])).rows;
}

const cancel = statement(
  'cancel-runs',
  `update trigger_runs r set status = 'cancelled', error = 'Cancelled by hand', finished_at = now(),
     lease_until = null, fence = r.fence + 1
   where ${wantedSql} and r.status in ('scheduled', 'running')
   returning r.id, r.trigger_slug as "triggerSlug"`,
  changedRow,
);

/**
 * Cancels runs that wait or run. `wanted` has ids of runs, and slugs of triggers whose waiting runs are meant. The worker
 * of one that runs notices before the next effect that the run is not its own any more. Returns the runs that it changed.
 */
export async function cancelRuns(db: Queryable, scope: Scope, wanted: readonly string[]): Promise<ChangedRun[]> {
  const { rows } = await db.query(scope, cancel, [scope.tenant, scope.environment, wanted, ['scheduled']]);
  return rows;
}
