import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { insertRunEventSql } from './run-event';

export interface NewRun extends Omit<Scope, 'organizationId'> {
  id: string;
  triggerSlug: string;
  /** Unique for its trigger: `event-<id>`, `tick-<unix ms>` or `manual-<id>`. */
  cause: string;
  entityId: string | null;
  eventId: string | null;
  hops: number;
  /**
   * What began the chain, for runs that count for its limit: the id of an event or of the run
   * itself. Null if no chain can follow.
   */
  root: string | null;
  maxAttempts: number;
  runAtMs: number;
  context: JsonObject;
  requestId: string | null;
  /** Whether it replaces runs of the same trigger and entity that have not begun. */
  cancelsPrevious: boolean;
  /** Why the run is stored as dead and never executed; null for a run that can be executed. */
  problem: string | null;
}

/** A run that is due. */
export interface DueRun {
  tenant: number;
  id: string;
  requestId: string | null;
}

const insert = statement(
  'insert-trigger-runs',
  `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, event_id, hops, root,
     max_attempts, run_at, context, request_id, status, error, finished_at, enqueued_at)
   select id, tenant, environment::"Environment", "triggerSlug", cause, "entityId", "eventId", hops, root,
     "maxAttempts", to_timestamp("runAtMs" / 1000), context, "requestId",
     (case when problem is null then 'scheduled' else 'dead' end)::"TriggerRunStatus", problem,
     case when problem is not null then now() end,
     case when to_timestamp("runAtMs" / 1000) <= clock_timestamp() then now() end
   from json_to_recordset($runs::json) r(id text, tenant int, environment text, "triggerSlug" text,
     cause text, "entityId" text, "eventId" bigint, hops int, root text, "maxAttempts" int, "runAtMs" float8, context jsonb,
     "requestId" text, problem text)
   on conflict (tenant, environment, trigger_slug, cause) do nothing
   returning tenant, id, request_id as "requestId", enqueued_at is not null and status = 'scheduled' as "isDue",
     status = 'dead' as "isDead"`,
  {
    tenant: column.int4,
    id: column.text,
    requestId: column.text.nullable,
    isDue: column.bool,
    isDead: column.bool,
  },
);

/**
 * Inserts the runs that do not exist yet, in order. Returns those that are due, which
 * the caller begins.
 */
export async function insertRuns(client: Queryable, runs: readonly NewRun[]): Promise<DueRun[]> {
  if (runs.length === 0) return [];
  const { rows } = await client.acrossTenants('relay', insert, { runs: JSON.stringify(runs) });
  const inserted = new Set(rows.map(({ id }) => id));
  const replacing = runs.filter(
    (run) =>
      run.cancelsPrevious && run.entityId !== null && run.problem === null && inserted.has(run.id),
  );
  if (replacing.length > 0)
    await client.acrossTenants('relay', cancelReplaced, { replacing: JSON.stringify(replacing) });
  const dead = rows.filter(({ isDead }) => isDead);
  await recordDead(client, dead);
  return rows
    .filter(({ isDue }) => isDue)
    .map(({ tenant, id, requestId }) => ({ tenant, id, requestId }));
}

// The inner statuses are those of the index on entities; the cast keeps the index of all scheduled
// runs out (docs/adr/0081).
const cancelReplaced = statement(
  'cancel-previous-runs',
  `update trigger_runs r set status = 'cancelled', error = 'Replaced by a later change', finished_at = now()
   from (select * from json_to_recordset($replacing::json)
     n(tenant int, environment text, "triggerSlug" text, "entityId" text, "eventId" bigint)
       limit json_array_length($replacing::json)) n
   cross join lateral (select id from trigger_runs
     where tenant = n.tenant and environment = n.environment::"Environment" and trigger_slug = n."triggerSlug"
       and entity_id = n."entityId" and event_id < n."eventId" and status in ('scheduled', 'running') offset 0) earlier
   where r.tenant = n.tenant and r.id = earlier.id and r.status::text = 'scheduled' and r.started_at is null`,
);

const insertDeadEvents = statement(
  'record-dead-runs',
  insertRunEventSql(`from (select * from json_to_recordset($runs::json) n(tenant int, id text)
    limit json_array_length($runs::json)) n
    join trigger_runs r on r.tenant = n.tenant and r.id = n.id`),
);

/** Records the events of runs that are stored as dead, as every other dead run has one. */
export async function recordDead(
  client: Queryable,
  runs: readonly { tenant: number; id: string }[],
): Promise<void> {
  if (runs.length > 0)
    await client.acrossTenants('relay', insertDeadEvents, { runs: JSON.stringify(runs) });
}
