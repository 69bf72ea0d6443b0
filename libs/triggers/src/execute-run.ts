import { type Json, type JsonObject, type TriggerDefinition } from '@parley/contracts';
import type { Db } from '@parley/db';
import { maxHops } from '@parley/events';
import {
  type ToolContext,
  type ToolLog,
  type Tools,
  failureText,
  resolveArgs,
} from '@parley/tools';
import type { groupSteps } from './group-steps';
import { type RunOutcome, endRun, failRun, releaseForRetry } from './retry-run';
import {
  type ClaimedRun,
  type RunEnd,
  type RunRecord,
  type RunStep,
  recordRuns,
  releaseRun,
} from './run-store';
import { isTransient, runInTransaction, runUnderLease } from './run-under-lease';
import { runVariables } from './run-variables';
import { wholeChange } from './whole-change';

export interface ExecuteDeps {
  db: Db;
  tools: Tools;
  log: ToolLog;
  /** Milliseconds after which another worker can claim a run whose lease is not renewed. */
  leaseMs: number;
  /** Executes steps whose effect is in the database. */
  together: ReturnType<typeof groupSteps>;
}

type Action = TriggerDefinition['actions'][number];
type StepFailure = Pick<RunStep, 'errorType' | 'error'>;

/** A run whose lease expires more often is assumed to crash its workers. */
const maxLeaseExpirations = 50;
/**
 * Longer arguments and results are not stored with their step, unless a later step
 * reads the result.
 */
const maxStoredChars = 4_096;

/**
 * Executes the remaining actions of a claimed run one after the other, as the system. A tool whose
 * effect is in the database commits it together with the record of the step. Any other tool gets
 * the run's id and the number of the step as its `callId`, by which it can recognize a repeated
 * call. A step is recorded only while this worker holds the run: a worker that was stopped for
 * longer than its lease changes nothing.
 */
export async function executeRun(
  deps: ExecuteDeps,
  run: ClaimedRun,
  signal?: AbortSignal,
): Promise<RunOutcome> {
  try {
    const refusal = refusalOf(run);
    if (refusal !== null) return await endRun(deps, run, refusal);
    for (const [index, action] of run.definition!.actions.entries()) {
      if (index < completedSteps(run).length) continue;
      if (signal?.aborted) {
        await releaseRun(deps.db, run, 0);
        return 'released';
      }
      const outcome = await runStep(deps, run, action, index);
      if (outcome !== 'completed') return outcome;
    }
    return 'succeeded';
  } catch (error) {
    if (!isTransient(error))
      deps.log.error(
        { err: error, runId: run.id, trigger: run.triggerSlug },
        'a trigger run failed unexpectedly',
      );
    // If this fails too, the lease expires and another worker claims the run.
    await releaseRun(deps.db, run, 1_000).catch(() => {});
    return 'released';
  }
}

const completedSteps = ({ steps }: ClaimedRun): RunStep[] =>
  steps.filter(({ status }) => status === 'success');

/** Why the run must not be executed or continued; null when it can be. */
function refusalOf(run: ClaimedRun): RunEnd | null {
  const { definition, enabled, cause, leaseExpirations } = run;
  if (definition === null) return { status: 'cancelled', error: 'The trigger was deleted' };
  if (!enabled && !cause.startsWith('manual-'))
    return { status: 'cancelled', error: 'The trigger was disabled' };
  if (leaseExpirations > maxLeaseExpirations) {
    return {
      status: 'dead',
      error: `Stopped: the lease of the run expired ${leaseExpirations} times`,
    };
  }
  const completed = completedSteps(run);
  if (
    completed.length > 0 &&
    completed.some(({ tool }, index) => definition.actions[index]?.tool !== tool)
  ) {
    return {
      status: 'dead',
      error: 'The actions of the trigger were changed while this run was in progress',
    };
  }
  // Nothing is left when the definition was shortened after the last recorded step.
  return completed.length === definition.actions.length ? { status: 'succeeded' } : null;
}

async function runStep(
  deps: ExecuteDeps,
  run: ClaimedRun,
  action: Action,
  index: number,
): Promise<RunOutcome | 'completed'> {
  const { db, tools, leaseMs } = deps;
  const { scope, definition } = run;
  const context: ToolContext = {
    callId: `${run.id}-${index}`,
    // Without `cascade` the changes of this run are past the limit of a chain, so they
    // start no trigger.
    hops: definition!.cascade ? run.hops : maxHops + 1,
    root: run.root,
    depth: 0,
    ...(run.requestId !== null && { requestId: run.requestId }),
  };
  let startedAt = Date.now();
  let started = performance.now();
  const stepWith = (rest: Partial<RunStep> & Pick<RunStep, 'status'>): RunStep => ({
    tool: action.tool,
    ...(action.as !== undefined && { as: action.as }),
    attempt: run.attempts,
    startedAt,
    durationMs: Math.round((performance.now() - started) * 100) / 100,
    ...rest,
  });

  const resolved = await resolveAction(deps, run, action, context);
  if (resolved === 'unavailable') return releaseForRetry(deps, run);
  if (!resolved.ok) return failRun(deps, run, stepWith({ status: 'error', ...resolved.failure }));
  const { args } = resolved;
  const call = { name: action.tool, args, actor: actorOf(run), allowed: null, context };
  const isLast = index === definition!.actions.length - 1;
  const storedArgs =
    args !== undefined && JSON.stringify(args).length <= maxStoredChars ? { args } : {};
  const recordOf = (result: Json): RunRecord & { step: RunStep } => {
    const storesResult = action.as !== undefined || JSON.stringify(result).length <= maxStoredChars;
    const step = stepWith({ status: 'success', ...storedArgs, ...(storesResult && { result }) });
    return { run, step, ...(isLast && { end: { status: 'succeeded' } }) };
  };

  const view = await tools.describe(scope, action.tool);
  let record: ReturnType<typeof recordOf> | undefined;
  const result = view?.transactional
    ? await runInTransaction(deps, {
        run,
        index,
        // It may have waited for a transaction, and is executed again when another step of
        // its group fails.
        work(tx) {
          [startedAt, started] = [Date.now(), performance.now()];
          return tools.run(scope, { ...call, tx });
        },
        recordOf: (given) => (record = recordOf(given)),
      })
    : await runUnderLease(deps, run, (signal) =>
        tools.run(scope, { ...call, context: { ...context, signal } }),
      );
  if (result === 'lost') return 'lost';
  if (!result.ok) {
    if (result.isUnavailable) return releaseForRetry(deps, run);
    const { errorType } = result;
    const error = failureText(result);
    return failRun(deps, run, stepWith({ status: 'error', errorType, error, ...storedArgs }));
  }
  if (record === undefined) {
    record = recordOf(result.result);
    if (!(await recordRuns(db, scope, [record], leaseMs)).has(run.id)) return 'lost';
  }
  run.steps.push(record.step);
  return 'completed';
}

const actorOf = ({ triggerSlug, author }: ClaimedRun) => ({
  type: 'system' as const,
  trigger: triggerSlug,
  ...(author !== null && { by: author }),
});

type Resolved =
  { ok: true; args: JsonObject } | { ok: false; failure: StepFailure } | 'unavailable';

/**
 * Fills in the templates of an action's arguments. When one of them fails, the action is not run.
 */
async function resolveAction(
  { db, tools }: ExecuteDeps,
  run: ClaimedRun,
  action: Action,
  context: ToolContext,
): Promise<Resolved> {
  const results = Object.fromEntries(
    completedSteps(run).flatMap(({ as, result }) =>
      as === undefined ? [] : [[as, result ?? null]],
    ),
  );
  let isUnavailable = false;
  const { args, errors } = await resolveArgs(action.tool, action.args, {
    variables: runVariables(subjectOf(run, await wholeChange(db, run)), results),
    async call(name, args, signal) {
      const result = await tools.run(run.scope, {
        name,
        args,
        actor: actorOf(run),
        allowed: null,
        context: { ...context, via: 'template', signal },
      });
      if (!result.ok && result.isUnavailable) isUnavailable = true;
      return result;
    },
  });
  if (isUnavailable) return 'unavailable';
  if (errors.length === 0) return { ok: true, args };
  const error = errors.map(({ name, message }) => `{{${name}}} ${message}`).join('; ');
  return { ok: false, failure: { errorType: 'template_error', error } };
}

const subjectOf = (run: ClaimedRun, change: ClaimedRun['change']) => ({
  triggerSlug: run.triggerSlug,
  triggerName: run.definition!.name,
  runId: run.id,
  entityId: run.entityId,
  entityType: run.entityType,
  action: 'action' in run.definition!.on ? run.definition!.on.action : null,
  change: change ?? (run.context as RunContext),
  timestamp: run.timestamp,
  attempt: run.attempts,
  organization: run.organization,
});

/** The subject of a run that no event started. */
export interface RunContext {
  timestamp?: number;
  entityType?: string;
  data?: JsonObject;
  status?: string;
}
