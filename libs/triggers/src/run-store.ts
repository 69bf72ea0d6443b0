import type { Author, Json, JsonObject, Scope, TriggerDefinition } from '@parley/contracts';
import { type Queryable, type RowOf, type Tenant } from '@parley/db';
import { claimByTenant, column, leaseSql, scopeColumns, scopeRow, statement } from '@parley/db';
import type { ToolErrorType } from '@parley/tools';
import type { ChangedEntity } from './match-condition';
import { insertRunEventSql, rootSql } from './run-event';

/** The record of one action. A failed one is followed by the record of its next attempt. */
export interface RunStep {
  tool: string;
  as?: string;
  status: 'success' | 'error';
  /** The attempt of the run, from 1. */
  attempt: number;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
  args?: Json;
  result?: Json;
  errorType?: ToolErrorType | 'template_error';
  error?: string;
}

const claimedRow = {
  ...scopeRow,
  id: column.text,
  triggerSlug: column.text,
  cause: column.text,
  entityId: column.text.nullable,
  entityType: column.text.nullable,
  hops: column.int4,
  /** What began its chain: the id of an event or of a run. */
  root: column.text,
  attempts: column.int4,
  maxAttempts: column.int4,
  fence: column.int4,
  /** Number of times that the lease expired and another worker claimed the run. */
  leaseExpirations: column.int4,
  requestId: column.text.nullable,
  /** Who fired the trigger by hand. */
  author: column.jsonb<Author>().nullable,
  context: column.jsonb<JsonObject>(),
  steps: column.jsonb<RunStep[]>(),
  /** Null when the trigger was deleted. */
  definition: column.jsonb<TriggerDefinition>().nullable,
  enabled: column.bool,
  change: column.jsonb<ChangedEntity>().nullable,
  timestamp: column.float8,
  /** When it was due; Unix milliseconds. */
  dueAt: column.float8,
  organization: column.jsonb<{ name: string; timezone: string }>(),
};
type ClaimedRow = RowOf<typeof claimedRow>;

/** A run that this worker holds until its lease expires or another claim increases the fence. */
export interface ClaimedRun extends Omit<ClaimedRow, keyof Scope> {
  scope: Scope;
}

/**
 * The order of runs: the runs of one entity begin in the order of its changes. A run waits for an
 * earlier run that is running, or is due and has not ended its first attempt. If the earlier run
 * waits for a retry, only runs of its trigger wait. The `order by` makes PostgreSQL use the index
 * on entities even without statistics of the tenant's rows.
 */
const notBlocked = (tenant: string): string => `(
  select true from trigger_runs p where p.tenant = ${tenant} and p.entity_id = c.entity_id and p.event_id < c.event_id
    and p.status in ('scheduled', 'running') and (p.status = 'running'
      or (p.attempts = 0 and (p.run_at <= statement_timestamp() or p.started_at is not null))
      or (p.attempts > 0 and p.trigger_slug = c.trigger_slug))
  order by p.event_id limit 1) is null`;

/**
 * Claims the runs `c` of the tenant that are due, or whose lease has expired, and for which the
 * condition `which` is true. The lease begins with the statement, not with its transaction.
 */
const claimSql = (which: string): string => `with due as (
    select c.id from trigger_runs c where c.tenant = $tenant and (
      c.status = 'scheduled' and c.run_at <= statement_timestamp() and ${notBlocked('$tenant')}
      or c.status = 'running' and c.lease_until < statement_timestamp()) and ${which} for update skip locked),
  claimed as (
    update trigger_runs r set status = 'running', fence = r.fence + 1,
      lease_expirations = r.lease_expirations + case when r.status = 'running' then 1 else 0 end,
      attempts = r.attempts + case when r.status = 'scheduled' then 1 else 0 end,
      lease_until = statement_timestamp() + $leaseMs * interval '1 ms',
        started_at = coalesce(r.started_at, statement_timestamp())
    from due where r.tenant = $tenant and r.id = due.id returning r.*)
  select ${scopeColumns('r.')}, r.id, r.trigger_slug as "triggerSlug", r.cause,
    r.entity_id as "entityId", coalesce(e.entity_type, r.context->>'entityType') as "entityType", r.hops,
    ${rootSql('r.')} as root, r.attempts,
    r.max_attempts as "maxAttempts", r.fence, r.lease_expirations as "leaseExpirations", r.request_id as "requestId", r.author, r.context, r.steps, t.definition,
    coalesce(t.enabled, false) as enabled, e.payload as change,
    coalesce((r.context->>'timestamp')::float8, floor(extract(epoch from coalesce(e.created_at, r.created_at)) * 1000)::float8) as timestamp,
    floor(extract(epoch from r.run_at) * 1000)::float8 as "dueAt",
    jsonb_build_object('name', coalesce(o.name, ''), 'timezone', coalesce(o.timezone, 'UTC')) as organization
  from claimed r
  left join triggers t on t.tenant = $tenant and t.environment = r.environment and t.slug = r.trigger_slug
  left join lateral (select * from events
    where tenant = $tenant and id = r.event_id order by id limit 1) e on true
  left join organizations o on o.no = r.tenant
  order by coalesce(r.event_id, 0), r.id`;

const claimOne = statement('claim-run', claimSql('c.id = $id'), claimedRow);

/**
 * Claims a run that is due, or whose lease has expired; null when it is not or
 * earlier runs go first.
 */
export async function claimRun(
  db: Queryable,
  id: string,
  leaseMs: number,
  tenant: Tenant,
): Promise<ClaimedRun | null> {
  const { rows } = await db.query(tenant, claimOne, { leaseMs, id });
  return rows[0] === undefined ? null : toClaimedRun(rows[0]);
}

const claimDue = statement(
  'claim-due-runs',
  claimSql(
    // A run that fire-trigger has just stored belongs to its process.
    `coalesce(c.lease_until, c.run_at) <= statement_timestamp()
       and (c.cause not like 'manual-%' or c.enqueued_at is null or c.started_at is not null
         or c.created_at < now() - interval '5 seconds')
     order by coalesce(c.lease_until, c.run_at) limit $limit`,
  ),
  claimedRow,
);

/**
 * Claims at most `limit` runs of a tenant, those that have been due for the longest time. A run
 * that waits for an earlier one is not among them, even when the earlier one is.
 */
export async function claimDueRuns(
  db: Queryable,
  tenant: Tenant,
  leaseMs: number,
  limit: number,
): Promise<ClaimedRun[]> {
  return (await db.query(tenant, claimDue, { leaseMs, limit })).rows.map(toClaimedRun);
}

function toClaimedRun({ organizationId, tenant, environment, ...run }: ClaimedRow): ClaimedRun {
  return { ...run, scope: { organizationId, tenant, environment } };
}

/** Whether the worker with this fence still holds the run. */
const isHeld = `tenant = $tenant and id = $id and fence = $fence and status = 'running'`;

// `limit cardinality`: see docs/adr/0081.
const hold = statement(
  'hold-runs',
  `select r.id, fence, set_config('lock_timeout', coalesce($lockTimeout, current_setting('lock_timeout')),
     true) as timeout
   from (select * from unnest($ids::text[]) id limit cardinality($ids)) given
   join trigger_runs r on r.tenant = $tenant and r.id = given.id and r.status = 'running'
     order by r.id for update of r`,
  { id: column.text, fence: column.int4, timeout: column.text },
);

/**
 * Locks runs of a tenant inside a transaction. Returns the ids of those that the worker still
 * holds. The transaction must not change anything for the others. `lockTimeoutMs`: the longest wait
 * of its later statements for a lock.
 */
export async function holdRuns(
  tx: Queryable,
  tenant: Tenant,
  runs: readonly ClaimedRun[],
  lockTimeoutMs?: number,
): Promise<Set<string>> {
  const values = {
    ids: runs.map(({ id }) => id),
    lockTimeout: lockTimeoutMs === undefined ? null : `${lockTimeoutMs}ms`,
  };
  const { rows } = await tx.query(tenant, hold, values);
  const fences = new Map(rows.map(({ id, fence }) => [id, fence]));
  return new Set(runs.flatMap(({ id, fence }) => (fences.get(id) === fence ? [id] : [])));
}

const renew = statement(
  'renew-run',
  `update trigger_runs set lease_until = statement_timestamp() + $leaseMs * interval '1 ms' where ${isHeld}`,
);

/** Extends the lease of a run; false when another worker has claimed it. */
export async function renewLease(
  db: Queryable,
  { id, scope, fence }: ClaimedRun,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, renew, { id, fence, leaseMs });
  return rowCount === 1;
}

export type RunEnd =
  | { status: 'succeeded' }
  | { status: 'dead' | 'cancelled'; error: string }
  | { status: 'scheduled'; error: string; inMs: number };

const record = statement(
  'record-runs',
  `with g as (
     select * from unnest($ids::text[], $fences::int[], $steps::text[], $statuses::text[], $errors::text[],
       $inMs::float8[]) g(id, fence, steps, status, error, in_ms)
     limit cardinality($ids)),
   r as (
     update trigger_runs t set steps = t.steps || g.steps::jsonb,
       status = coalesce(g.status::"TriggerRunStatus", t.status), error = case when g.status is null then t.error else g.error end,
       run_at = case when g.status = 'scheduled' then statement_timestamp() + g.in_ms * interval '1 ms' else t.run_at end,
       enqueued_at = case when g.status = 'scheduled' then null else t.enqueued_at end,
       lease_until = case when g.status is null then statement_timestamp() + $leaseMs * interval '1 ms' end,
       finished_at = case when g.status in ('succeeded', 'dead', 'cancelled') then statement_timestamp() end
     from g where t.tenant = $tenant and t.id = g.id and t.fence = g.fence and t.status = 'running' returning t.*),
   event as (${insertRunEventSql(`from r where r.status in ('succeeded', 'dead')`)})
   select id from r`,
  { id: column.text },
);

/** What is recorded of a run: a step, the end of an attempt or of the run, or both. */
export interface RunRecord {
  run: ClaimedRun;
  step?: RunStep;
  end?: RunEnd;
}

/**
 * Records steps and ends of runs of a tenant, and the events of their results, in one
 * statement. Returns the ids of the recorded ones. Nothing is recorded of a run that another
 * worker has claimed.
 */
export async function recordRuns(
  db: Queryable,
  tenant: Tenant,
  records: readonly RunRecord[],
  leaseMs: number,
): Promise<Set<string>> {
  const { rows } = await db.query(tenant, record, {
    leaseMs,
    ids: records.map(({ run }) => run.id),
    fences: records.map(({ run }) => run.fence),
    steps: records.map(({ step }) => JSON.stringify(step === undefined ? [] : [step])),
    statuses: records.map(({ end }) => end?.status ?? null),
    errors: records.map(({ end }) =>
      end === undefined || end.status === 'succeeded' ? null : end.error.slice(0, 4_000),
    ),
    inMs: records.map(({ end }) => (end?.status === 'scheduled' ? end.inMs : 0)),
  });
  return new Set(rows.map(({ id }) => id));
}

const release = statement(
  'release-run',
  `update trigger_runs set status = 'scheduled', attempts = attempts - 1, lease_until = null, enqueued_at = null,
     run_at = statement_timestamp() + $inMs * interval '1 ms' where ${isHeld}`,
);

/** Makes a run due again in `inMs` milliseconds without counting the attempt. */
export async function releaseRun(
  db: Queryable,
  { id, scope, fence }: ClaimedRun,
  inMs: number,
): Promise<void> {
  await db.query(scope, release, { id, fence, inMs });
}

const since = 'coalesce(lease_until, run_at)';
const isSendable = `status in ('scheduled', 'running') and (enqueued_at is null
  or enqueued_at < now() - case status when 'running' then 1000 else $lostAfterMs::float8 end * interval '1 ms')`;
const dueWork = {
  tenants: leaseSql.tenants('due-run-tenants', {
    table: 'trigger_runs',
    // While nothing is due, tenants with later runs are not read.
    where: `${isSendable} and ((select min(run_at) from trigger_runs where status = 'scheduled') <= now()
      or (select min(lease_until) from trigger_runs where status = 'running') <= now())`,
    since,
  }),
  due: statement(
    'due-runs',
    `with due as (
       select id from trigger_runs c where tenant = $tenant and ${isSendable} and ${since} <= now()
         and (status = 'running' or ${notBlocked('$tenant')})
       order by ${since} limit $limit offset $offset for update skip locked)
     update trigger_runs r set enqueued_at = now() from due where r.tenant = $tenant and r.id = due.id
     returning r.tenant, r.id, request_id as "requestId"`,
    { tenant: column.int4, id: column.text, requestId: column.text.nullable },
  ),
  isMarked: true,
};

/**
 * Runs that are due and were never marked, or that no process has begun within `lostAfterMs` after
 * they were, and runs whose lease has expired. They are marked.
 */
export const dueRuns = (
  db: Queryable,
  { limit, lostAfterMs }: { limit: number; lostAfterMs: number },
) => claimByTenant(db, { ...dueWork, values: { lostAfterMs } }, limit);

const nextDue = statement(
  'next-due',
  `select extract(epoch from least(
     (select min(run_at) from trigger_runs where status = 'scheduled' and run_at > now()),
     (select min(next_tick_at) from triggers where entity_type is null and next_tick_at > now())
   ) - clock_timestamp())::float8 * 1000 as ms`,
  { ms: column.float8.nullable },
);

/** Milliseconds until the next run or cron trigger is due; null when there is none. */
export async function nextDueInMs(db: Queryable): Promise<number | null> {
  return (await db.acrossTenants('due work', nextDue)).rows[0]!.ms;
}

const waiting = statement(
  'waiting-trigger-runs',
  `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as lag
   from trigger_runs where status = 'scheduled' and run_at <= now()`,
  { waiting: column.int4, lag: column.float8 },
);

/**
 * The number of due runs that no worker has begun, and how long the oldest has waited, in seconds.
 */
export async function waitingRuns(db: Queryable): Promise<{ waiting: number; lag: number }[]> {
  return (await db.acrossTenants('metrics', waiting)).rows;
}
