import { type Json, type JsonObject, type TriggerDefinition } from '@parley/contracts';
import { type Db, type Queryable, isDatabaseUnavailable } from '@parley/db';
import { maxHops } from '@parley/events';
import {
  type ToolContext,
  type ToolFailure,
  type ToolLog,
  type ToolResult,
  type Tools,
  failure,
  resolveArgs,
} from '@parley/tools';
import { type RunEnd, type ClaimedRun, type RunStep, holdRun, recordRun, releaseRun, renewLease } from './run-store';
import { runVariables } from './run-variables';

export interface ExecuteDeps {
  db: Db;
  tools: Tools;
  log: ToolLog;
  /** How long a run belongs to a worker that is not heard of. */
  leaseMs: number;
}

/** `released`: to be tried again for reasons not its own; `lost`: another worker has it. */
export type RunOutcome = 'succeeded' | 'dead' | 'retry' | 'cancelled' | 'released' | 'lost';

type Action = TriggerDefinition['actions'][number];
type StepFailure = Pick<RunStep, 'errorType' | 'error'>;

/** What a worker's death may do to one run before it is taken for the cause. */
const maxTakeovers = 50;
const defaultBackoffMs = 1_000;
const maxBackoffMs = 3_600_000;
/** Of arguments and results that only people look at. */
const maxKeptChars = 4_096;

/**
 * Runs the actions of a claimed run from the first that is not done, one after the other, as the system. A step and its
 * record are one transaction where the tool's effect is in the database; any other tool is given the run's id and the
 * step's number as its `callId`, so that its effect can be told from another. Each record holds only while the run is
 * ours: a worker that was stopped for longer than its lease changes nothing any more.
 */
export async function executeRun(deps: ExecuteDeps, run: ClaimedRun, signal?: AbortSignal): Promise<RunOutcome> {
  try {
    const refusal = refusalOf(run);
    if (refusal !== null) return await end(deps, run, refusal);
    for (const [index, action] of run.definition!.actions.entries()) {
      if (index < doneSteps(run).length) continue;
      if (signal?.aborted) {
        await releaseRun(deps.db, run, 0);
        return 'released';
      }
      const outcome = await runStep(deps, run, action, index);
      if (outcome !== 'done') return outcome;
    }
    return 'succeeded';
  } catch (error) {
    if (!isPassing(error))
      deps.log.error({ err: error, runId: run.id, trigger: run.triggerSlug }, 'a trigger run failed unexpectedly');
    // When even this is not possible, the lease runs out and the run is taken over.
    await releaseRun(deps.db, run, 1_000).catch(() => {});
    return 'released';
  }
}

const doneSteps = ({ steps }: ClaimedRun): RunStep[] => steps.filter(({ status }) => status === 'success');

/** Why a run is not begun or not gone on with; null when nothing is in its way. */
function refusalOf(run: ClaimedRun): RunEnd | null {
  const { definition, enabled, cause, takeovers } = run;
  if (definition === null) return { status: 'cancelled', error: 'The trigger was deleted' };
  if (!enabled && !cause.startsWith('manual-')) return { status: 'cancelled', error: 'The trigger was disabled' };
  if (takeovers > maxTakeovers) {
    return { status: 'dead', error: `Given up: its worker ended ${takeovers} times while it ran` };
  }
  const done = doneSteps(run);
  if (done.length > 0 && done.some(({ tool }, index) => definition.actions[index]?.tool !== tool)) {
    return { status: 'dead', error: 'The actions of the trigger were changed while this run was half done' };
  }
  // Only a run whose last step was recorded by an older definition has nothing left.
  return done.length === definition.actions.length ? { status: 'succeeded' } : null;
}

async function runStep(
  deps: ExecuteDeps,
  run: ClaimedRun,
  action: Action,
  index: number,
): Promise<RunOutcome | 'done'> {
  const { db, tools, leaseMs } = deps;
  const { scope, definition } = run;
  const context: ToolContext = {
    callId: `${run.id}-${index}`,
    // Past the limit: without `cascade` no trigger follows from what this one changes.
    hops: definition!.cascade ? run.hops : maxHops + 1,
    depth: 0,
    ...(run.requestId !== null && { requestId: run.requestId }),
  };
  const startedAt = Date.now();
  const started = performance.now();
  const stepWith = (rest: Partial<RunStep> & Pick<RunStep, 'status'>): RunStep => ({
    tool: action.tool,
    ...(action.as !== undefined && { as: action.as }),
    attempt: run.attempts,
    startedAt,
    durationMs: Math.round((performance.now() - started) * 100) / 100,
    ...rest,
  });

  const resolved = await resolveAction(deps, run, action, context);
  if (resolved === 'unavailable') return release(deps, run);
  if (!resolved.ok) return fail(deps, run, stepWith({ status: 'error', ...resolved.failure }));
  const { args } = resolved;
  const call = { name: action.tool, args, actor: actorOf(run), allowed: null, context };
  const isLast = index === definition!.actions.length - 1;
  const kept = args !== undefined && JSON.stringify(args).length <= maxKeptChars ? { args } : {};
  const record = async (db: Queryable, result: Json): Promise<boolean> => {
    const keepsResult = action.as !== undefined || JSON.stringify(result).length <= maxKeptChars;
    const step = stepWith({ status: 'success', ...kept, ...(keepsResult && { result }) });
    if (!(await recordRun(db, run, { step, leaseMs, ...(isLast && { end: { status: 'succeeded' } }) }))) return false;
    run.steps.push(step);
    return true;
  };

  const view = await tools.describe(scope, action.tool);
  const result = view?.transactional
    ? await inOneTransaction(deps, run, (tx) => tools.run(scope, { ...call, tx }), record)
    : await withLease(deps, run, (signal) => tools.run(scope, { ...call, context: { ...context, signal } }));
  if (result === 'lost') return 'lost';
  if (!result.ok) {
    if (result.isUnavailable) return release(deps, run);
    const { errorType, message: error } = result;
    return fail(deps, run, stepWith({ status: 'error', errorType, error, ...kept }));
  }
  if (view?.transactional) return 'done';
  return (await record(db, result.result)) ? 'done' : 'lost';
}

const actorOf = ({ triggerSlug }: ClaimedRun) => ({ type: 'system' as const, trigger: triggerSlug });

type Resolved = { ok: true; args: JsonObject } | { ok: false; failure: StepFailure } | 'unavailable';

/** Puts values into an action's arguments. An action with a gap in its arguments is not run. */
async function resolveAction(
  { tools }: ExecuteDeps,
  run: ClaimedRun,
  action: Action,
  context: ToolContext,
): Promise<Resolved> {
  const results = Object.fromEntries(
    doneSteps(run).flatMap(({ as, result }) => (as === undefined ? [] : [[as, result ?? null]])),
  );
  let isUnavailable = false;
  const { args, errors } = await resolveArgs(action.args, {
    variables: runVariables(subjectOf(run), results),
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

const subjectOf = (run: ClaimedRun) => ({
  triggerSlug: run.triggerSlug,
  triggerName: run.definition!.name,
  runId: run.id,
  entityId: run.entityId,
  entityType: run.entityType,
  action: 'action' in run.definition!.on ? run.definition!.on.action : null,
  change: run.change ?? (run.context as RunContext),
  timestamp: run.timestamp,
  attempt: run.attempts,
  organization: run.organization,
});

/** What a run without an event is about. */
export interface RunContext {
  timestamp?: number;
  entityType?: string;
  data?: JsonObject;
  status?: string;
}

/** A failure inside a transaction, which must not be committed. */
class Undone extends Error {
  constructor(readonly result: ToolFailure | 'lost') {
    super('undone');
  }
}

/** The effect of a tool and its record, both or none. */
async function inOneTransaction(
  { db, log }: ExecuteDeps,
  run: ClaimedRun,
  work: (tx: Queryable) => Promise<ToolResult>,
  record: (tx: Queryable, result: Json) => Promise<boolean>,
): Promise<ToolResult | 'lost'> {
  try {
    return await db.transaction(async (client) => {
      if (!(await holdRun(client, run))) throw new Undone('lost');
      const guarded = endable(client);
      const result = await work(guarded.tx).finally(guarded.end);
      if (!result.ok) throw new Undone(result);
      if (!(await record(client, result.result))) throw new Undone('lost');
      return result;
    });
  } catch (error) {
    if (error instanceof Undone) return error.result;
    if (isPassing(error)) throw error;
    log.error({ err: error, runId: run.id, trigger: run.triggerSlug }, 'tool failed unexpectedly');
    return failure('execution_error', 'failed unexpectedly');
  }
}

/** A tool that has been given up may still be at work: what it sends later must not reach the connection. */
function endable(client: Queryable): { tx: Queryable; end: () => void } {
  let isOver = false;
  const open = (): Queryable => {
    if (isOver) throw new Error('The transaction of this call is over');
    return client;
  };
  const tx: Queryable = {
    query: async (...given) => open().query(...given),
    acrossTenants: async (...given) => open().acrossTenants(...given),
    afterCommit: (callback) => open().afterCommit(callback),
  };
  return { tx, end: () => (isOver = true) };
}

/** Keeps the run ours while a tool works outside of the database; gives the work up when it is not any more. */
async function withLease(
  { db, leaseMs }: ExecuteDeps,
  run: ClaimedRun,
  work: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult | 'lost'> {
  if (!(await renewLease(db, run, leaseMs))) return 'lost';
  const lost = new AbortController();
  const timer = setInterval(() => {
    renewLease(db, run, leaseMs).then(
      (isOurs) => isOurs || lost.abort(),
      () => {}, // the next beat may get through, and the record of the step is checked anyway
    );
  }, leaseMs / 3);
  try {
    const result = await work(lost.signal);
    return lost.signal.aborted ? 'lost' : result;
  } finally {
    clearInterval(timer);
  }
}

async function fail(deps: ExecuteDeps, run: ClaimedRun, step: RunStep): Promise<RunOutcome> {
  const error = `${step.tool}: ${step.error}`;
  const backoffMs = run.definition!.retry?.backoffMs ?? defaultBackoffMs;
  const inMs = Math.min(backoffMs * 2 ** (run.attempts - 1), maxBackoffMs);
  const outcome: RunEnd =
    run.attempts < run.maxAttempts ? { status: 'scheduled', error, inMs } : { status: 'dead', error };
  run.steps.push(step);
  return end(deps, run, outcome, step);
}

async function end({ db, leaseMs }: ExecuteDeps, run: ClaimedRun, end: RunEnd, step?: RunStep): Promise<RunOutcome> {
  if (!(await recordRun(db, run, { step, end, leaseMs }))) return 'lost';
  return end.status === 'scheduled' ? 'retry' : end.status;
}

async function release({ db }: ExecuteDeps, run: ClaimedRun): Promise<RunOutcome> {
  await releaseRun(db, run, 1_000);
  return 'released';
}

/**
 * The database away, or two transactions in each other's way: nothing is wrong with the run. A statement that ran into
 * its time limit (57014) is not among them: it would do so each time.
 */
function isPassing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return isDatabaseUnavailable(error) || ['40001', '40P01', '55P03'].includes(code ?? '');
}
