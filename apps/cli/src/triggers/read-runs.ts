import type { JsonObject, Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, toPaged } from '@parley/db';
import type { RunStep } from '@parley/triggers';
import { Failure } from '../failure';
import type { NamedScope } from '../scope';
import type { RunState } from './run-states';

export interface RunSummary {
  id: string;
  triggerSlug: string;
  /** `event-<id>`, `tick-<unix ms>` or `manual-<id>`. */
  cause: string;
  entityId: string | null;
  status: RunState;
  attempts: number;
  maxAttempts: number;
  /** Triggers between the change that a person made and this run, itself included. */
  hops: number;
  error: string | null;
  runAt: Date;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export interface Run extends RunSummary {
  requestId: string | null;
  context: JsonObject;
  steps: RunStep[];
}

const columns = `id, trigger_slug as "triggerSlug", cause, entity_id as "entityId", status::text as status, attempts,
  max_attempts as "maxAttempts", hops, error, run_at as "runAt", created_at as "createdAt", started_at as "startedAt",
  finished_at as "finishedAt"`;

export const runId = /^run_[0-9a-z]{1,40}$/;

export interface RunFilter {
  triggerSlug?: string;
  status?: RunState;
  entityId?: string;
}

/** Runs, newest first; what is added meanwhile does not move the pages that follow. */
export async function listRuns(
  db: Queryable,
  scope: Scope,
  { triggerSlug, status, entityId, limit, before }: Page & RunFilter,
): Promise<Paged<RunSummary>> {
  const { rows } = await db.query<RunSummary>(
    `select ${columns} from trigger_runs
     where organization_id = $1 and environment = $2::"Environment" and ($3::text is null or trigger_slug = $3)
       and ($4::text is null or status = $4::"TriggerRunStatus") and ($5::text is null or entity_id = $5)
       and ($6::timestamptz is null or (created_at, id) < ($6, $7::text))
     order by created_at desc, id desc limit $8`,
    [
      scope.organizationId,
      scope.environment,
      triggerSlug ?? null,
      status ?? null,
      entityId ?? null,
      before?.at ?? null,
      before?.id ?? null,
      limit + 1,
    ],
  );
  return toPaged(rows, limit, ({ createdAt, id }) => ({ at: createdAt, id }));
}

/** One run with all that was kept of it; a Failure that says where it was looked for when there is none. */
export async function requireRun(db: Queryable, scope: NamedScope, id: string): Promise<Run> {
  const { rows } = await db.query<Run>(
    `select ${columns}, request_id as "requestId", context, steps from trigger_runs
     where organization_id = $1 and environment = $2::"Environment" and id = $3`,
    [scope.organizationId, scope.environment, id],
  );
  if (rows[0] === undefined) throw new Failure(`No run "${id}" in ${scope.name}`);
  return rows[0];
}
