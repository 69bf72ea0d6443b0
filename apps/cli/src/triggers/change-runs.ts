import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface Changed {
  id: string;
  triggerSlug: string;
}

/** Ids of runs, and slugs of triggers that stand for their runs. */
const wantedSql = `r.organization_id = $1 and r.environment = $2::"Environment"
  and (r.id = any($3) or r.trigger_slug = any($3) and r.status = any($4::text[]::"TriggerRunStatus"[]))`;

/**
 * Dead and cancelled runs are due again, now and for one more try; the relay is woken. Steps that are done stay done.
 * Runs that were stopped at the end of a chain of triggers stay as they are.
 */
export async function retryRuns(db: Queryable, scope: Scope, wanted: readonly string[]): Promise<Changed[]> {
  const { rows } = await db.query<Changed>(
    `with changed as (
       update trigger_runs r set status = 'scheduled', error = null, finished_at = null, lease_until = null,
         takeovers = 0, enqueued_at = null, run_at = date_trunc('milliseconds', clock_timestamp()),
         max_attempts = greatest(r.max_attempts, r.attempts + 1)
       where ${wantedSql} and r.status in ('dead', 'cancelled') and r.hops <= 5
       returning r.id, r.trigger_slug as "triggerSlug")
     select changed.*, pg_notify('parley_events', '') from changed order by id`,
    [scope.organizationId, scope.environment, wanted, ['dead']],
  );
  return rows.map(({ id, triggerSlug }) => ({ id, triggerSlug }));
}

/** A run that is at work is cancelled too: its worker finds that it is not its own any more, before the next effect. */
export async function cancelRuns(db: Queryable, scope: Scope, wanted: readonly string[]): Promise<Changed[]> {
  const { rows } = await db.query<Changed>(
    `update trigger_runs r set status = 'cancelled', error = 'Cancelled by hand', finished_at = clock_timestamp(),
       lease_until = null, fence = r.fence + 1
     where ${wantedSql} and r.status in ('scheduled', 'running')
     returning r.id, r.trigger_slug as "triggerSlug"`,
    [scope.organizationId, scope.environment, wanted, ['scheduled']],
  );
  return rows;
}
