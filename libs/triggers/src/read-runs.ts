import type { Author, JsonObject, Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import { rootSql } from './run-event';
import type { RunStep } from './run-store';

/**
 * A `scheduled` run waits until it is due, until earlier runs of its entity have ended, or for
 * its next attempt.
 */
type RunState = 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';

const columns = `id, trigger_slug as "triggerSlug", cause, author, entity_id as "entityId", status::text as status, attempts,
  max_attempts as "maxAttempts", hops, ${rootSql('')} as root, refused_runs as "refusedRuns", error, run_at as "runAt", created_at as "createdAt", started_at as "startedAt",
  finished_at as "finishedAt"`;

const summaryRow = {
  id: column.text,
  triggerSlug: column.text,
  /** `event-<id>`, `tick-<unix ms>` or `manual-<id>`; `refused-<root>` for refused runs. */
  cause: column.text,
  /** Who fired the trigger by hand. */
  author: column.jsonb<Author>().nullable,
  entityId: column.text.nullable,
  status: column.oneOf<RunState>(),
  attempts: column.int4,
  maxAttempts: column.int4,
  /** Number of triggers from the first change to this run, including its own. */
  hops: column.int4,
  /**
   * What began its chain of triggers: the id of an event, or of a run that a schedule or a
   * request started.
   */
  root: column.text,
  /**
   * Above 0: not a run, but the record of so many runs of the chain that were refused
   * (docs/adr/0039).
   */
  refusedRuns: column.int4,
  error: column.text.nullable,
  runAt: column.timestamptz,
  createdAt: column.timestamptz,
  startedAt: column.timestamptz.nullable,
  finishedAt: column.timestamptz.nullable,
};
export type TriggerRunSummary = RowOf<typeof summaryRow>;

const wholeRow = {
  ...summaryRow,
  requestId: column.text.nullable,
  context: column.jsonb<JsonObject>(),
  steps: column.jsonb<RunStep[]>(),
};
export type TriggerRun = RowOf<typeof wholeRow>;

const runsOfEnvironment = listStatement(
  'list-runs',
  `select ${columns} from trigger_runs
   where tenant = $tenant and environment = $environment::"Environment"
     and ($triggerSlug::text is null or trigger_slug = $triggerSlug)
     and ($status::text is null or status = $status::"TriggerRunStatus")
       and ($entityId::text is null or entity_id = $entityId)
     and ($since::timestamptz is null or created_at >= $since)
       and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  summaryRow,
);

interface RunFilter {
  triggerSlug?: string;
  status?: RunState;
  entityId?: string;
  /** Runs that were planned at this time or later. */
  since?: Date;
}

/**
 * Runs of an environment, newest first. Runs that are added between two pages do not
 * move later pages.
 */
export async function listRuns(
  db: Queryable,
  scope: Scope,
  { triggerSlug, status, entityId, since, ...page }: Page & RunFilter,
): Promise<Paged<TriggerRunSummary>> {
  const { rows } = await db.query(scope, runsOfEnvironment, {
    environment: scope.environment,
    triggerSlug,
    status,
    entityId,
    since,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const runById = statement(
  'find-run',
  `select ${columns}, request_id as "requestId", context, steps from trigger_runs
   where tenant = $tenant and environment = $environment::"Environment" and id = $id`,
  wholeRow,
);

/** One run with its context and its steps; null when the environment has no run with this id. */
export async function findRun(db: Queryable, scope: Scope, id: string): Promise<TriggerRun | null> {
  const { rows } = await db.query(scope, runById, { environment: scope.environment, id });
  return rows[0] ?? null;
}
