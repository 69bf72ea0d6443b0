import type { Author, JsonObject, Scope, TriggerDefinition } from '@parley/contracts';
import { type Queryable, column, newId, statement } from '@parley/db';
import { type Entities, typeOfEntity } from '@parley/entities';
import { type ExecuteDeps, type RunContext, executeRun } from './execute-run';
import { type RunStep, claimRun } from './run-store';

export interface FireRequest {
  triggerSlug: string;
  /** The entity whose data the actions read. */
  entityId?: string;
  /** Overrides fields of the entity's data. */
  data?: JsonObject;
  requestId?: string;
  /** Who fires it. The run and the events of its actions name them. */
  author?: Author;
  /** Called in the transaction that stores the run. */
  onStored?: (tx: Queryable, runId: string) => Promise<void>;
}

export type FireResult =
  | { ok: true; runId: string; steps: RunStep[] }
  | { ok: false; reason: 'trigger_not_found' | 'entity_not_found' }
  /** The last step has the error. */
  | { ok: false; reason: 'failed'; runId: string; steps: RunStep[]; error: string }
  /** Someone cancelled the run, or deleted its trigger. Completed steps are not undone. */
  | { ok: false; reason: 'cancelled'; runId: string }
  /** The run has begun, and a worker will finish it. */
  | { ok: false; reason: 'interrupted'; runId: string };

const triggerBySlug = statement(
  'trigger-by-slug',
  `select definition from triggers where tenant = $tenant and environment = $environment::"Environment"
     and slug = $triggerSlug`,
  { definition: column.jsonb<TriggerDefinition>() },
);

// `enqueued_at` is set so that the sweep does not find a run that this process executes.
const insertManualRun = statement(
  'insert-manual-run',
  `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, hops, root, max_attempts,
     run_at, context, request_id, author, enqueued_at)
   values ($runId, $tenant, $environment::"Environment", $triggerSlug, 'manual-' || $runId, $entityId, 1, $runId, 1,
     date_trunc('milliseconds', now()),
     $context, $requestId, $author::jsonb, now())`,
);

/**
 * Runs a trigger's actions once and waits for them, regardless of its condition and schedule, even
 * when it is disabled (docs/reference/triggers.md#firing-by-hand). If this process ends, a worker
 * continues the run.
 */
export async function fireTrigger(
  deps: ExecuteDeps & { entities: Entities },
  scope: Scope,
  request: FireRequest,
): Promise<FireResult> {
  const { db } = deps;
  const values = { environment: scope.environment, triggerSlug: request.triggerSlug };
  const { rows } = await db.query(scope, triggerBySlug, values);
  if (rows[0] === undefined) return { ok: false, reason: 'trigger_not_found' };
  const context = await contextOf(deps, scope, request);
  if (context === null) return { ok: false, reason: 'entity_not_found' };

  const runId = newId('run');
  const { triggerSlug, entityId, requestId, author, onStored } = request;
  await db.transaction(async (tx) => {
    await tx.query(scope, insertManualRun, {
      runId,
      environment: scope.environment,
      triggerSlug,
      entityId: entityId ?? null,
      context: JSON.stringify(context),
      requestId: requestId ?? null,
      author: author === undefined ? null : JSON.stringify(author),
    });
    await onStored?.(tx, runId);
  });
  const run = await claimRun(db, runId, deps.leaseMs, scope);
  if (run === null) return { ok: false, reason: await reasonOfLoss(db, scope, runId), runId };
  const outcome = await executeRun(deps, run);
  if (outcome === 'succeeded') return { ok: true, runId, steps: run.steps };
  if (outcome !== 'dead') return { ok: false, reason: await reasonOfLoss(db, scope, runId), runId };
  return {
    ok: false,
    reason: 'failed',
    runId,
    steps: run.steps,
    error: run.steps.at(-1)?.error ?? 'failed',
  };
}

const cancelledRun = statement(
  'cancelled-run',
  `select from trigger_runs where tenant = $tenant and id = $runId and status = 'cancelled'`,
);

async function reasonOfLoss(
  db: Queryable,
  scope: Scope,
  runId: string,
): Promise<'cancelled' | 'interrupted'> {
  const { rowCount } = await db.query(scope, cancelledRun, { runId });
  return rowCount === 1 ? 'cancelled' : 'interrupted';
}

async function contextOf(
  { db, entities }: { db: ExecuteDeps['db']; entities: Entities },
  scope: Scope,
  { entityId, data }: FireRequest,
): Promise<RunContext | null> {
  const timestamp = Date.now();
  if (entityId === undefined) return { timestamp, data: data ?? {} };
  const entityType = await typeOfEntity(db, scope, entityId);
  const found =
    entityType === null ? null : await entities.get(scope, { type: entityType, id: entityId });
  if (entityType === null || found?.ok !== true) return null;
  const entity = JSON.parse(found.entity.json) as { data: JsonObject; status: string };
  return { timestamp, entityType, status: entity.status, data: { ...entity.data, ...data } };
}
