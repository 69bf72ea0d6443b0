import type { Db } from '@parley/db';
import { type ClaimedRun, type RunEnd, type RunStep, recordRuns, releaseRun } from './run-store';

/** `released`: due again without counting an attempt; `lost`: another worker has claimed it. */
export type RunOutcome = 'succeeded' | 'dead' | 'retry' | 'cancelled' | 'released' | 'lost';

type RunDeps = { db: Db; leaseMs: number };

const defaultBackoffMs = 1_000;
const maxBackoffMs = 3_600_000;
/** Delay of a run that is released because something it needs is unavailable. */
const releaseMs = 1_000;

/**
 * Records a failed step. The run is retried after `backoffMs`, which doubles with each attempt up
 * to an hour; after the last attempt it is dead (docs/reference/triggers.md#retries).
 */
export async function failRun(deps: RunDeps, run: ClaimedRun, step: RunStep): Promise<RunOutcome> {
  const error = `${step.tool}: ${step.error}`;
  const backoffMs = run.definition!.retry?.backoffMs ?? defaultBackoffMs;
  const inMs = Math.min(backoffMs * 2 ** (run.attempts - 1), maxBackoffMs);
  const end: RunEnd =
    run.attempts < run.maxAttempts
      ? { status: 'scheduled', error, inMs }
      : { status: 'dead', error };
  run.steps.push(step);
  return endRun(deps, run, end, step);
}

/** Records the end of an attempt or of the run. */
export async function endRun(
  deps: RunDeps,
  run: ClaimedRun,
  end: RunEnd,
  step?: RunStep,
): Promise<RunOutcome> {
  const recorded = await recordRuns(
    deps.db,
    run.scope,
    [{ run, end, ...(step && { step }) }],
    deps.leaseMs,
  );
  if (!recorded.has(run.id)) return 'lost';
  return end.status === 'scheduled' ? 'retry' : end.status;
}

/** Makes a run due again because something it needs is unavailable. The attempt is not counted. */
export async function releaseForRetry({ db }: RunDeps, run: ClaimedRun): Promise<RunOutcome> {
  await releaseRun(db, run, releaseMs);
  return 'released';
}
