import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { maxHops } from '@parley/events';

const changedRow = { id: column.text, triggerSlug: column.text };
type ChangedRun = RowOf<typeof changedRow>;

const maxChanged = 1_000;

/**
 * `$wanted` has ids of runs, and slugs of triggers, which select the oldest runs of these triggers
 * with a status in `$statuses`.
 */
const wantedSql = `r.tenant = $tenant and r.environment = $environment::"Environment"
   and (r.id = any($wanted) or r.id = any (array(
    select o.id from trigger_runs o where o.tenant = $tenant and o.environment = $environment::"Environment"
      and o.trigger_slug = any($wanted)
      and o.status = any($statuses::text[]::"TriggerRunStatus"[]) and o.refused_runs = 0 order by o.created_at
        limit ${maxChanged})))`;

const retry = statement(
  'retry-runs',
  `with changed as (
     update trigger_runs r set status = 'scheduled', error = null, finished_at = null, lease_until = null,
       lease_expirations = 0, enqueued_at = null, run_at = date_trunc('milliseconds', now()),
       max_attempts = greatest(r.max_attempts, r.attempts + 1)
     where ${wantedSql} and r.status in ('dead', 'cancelled') and r.hops <= ${maxHops} and r.refused_runs = 0
     returning r.id, r.trigger_slug as "triggerSlug")
   select * from changed order by id`,
  changedRow,
);

/**
 * Makes dead and cancelled runs due immediately, with one more attempt; the next sweep of a
 * worker begins them. Completed steps are not repeated. `wanted` has ids of runs, and slugs of
 * triggers, which select their dead runs. Refused runs are not changed. Returns the changed
 * runs, ordered by id.
 */
export async function retryRuns(
  db: Queryable,
  scope: Scope,
  wanted: readonly string[],
): Promise<ChangedRun[]> {
  return (
    await db.query(scope, retry, { environment: scope.environment, wanted, statuses: ['dead'] })
  ).rows;
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
 * Cancels scheduled and running runs. `wanted` has ids of runs, and slugs of triggers, which select
 * their scheduled runs. The worker of a running one stops before its next step, as the fence has
 * changed. Returns the changed runs.
 */
export async function cancelRuns(
  db: Queryable,
  scope: Scope,
  wanted: readonly string[],
): Promise<ChangedRun[]> {
  const { rows } = await db.query(scope, cancel, {
    environment: scope.environment,
    wanted,
    statuses: ['scheduled'],
  });
  return rows;
}
