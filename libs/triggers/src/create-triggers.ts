import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { ToolLog, Tools } from '@parley/tools';
import { executeRun } from './execute-run';
import { type FireRequest, fireTrigger } from './fire-trigger';
import type { DueRun } from './insert-runs';
import { groupSteps } from './group-steps';
import { planRuns } from './plan-runs';
import type { RunOutcome } from './retry-run';
import { type ClaimedRun, claimDueRuns, dueRuns, nextDueInMs } from './run-store';
import { planCronRuns } from './plan-cron-runs';

export interface TriggersOptions {
  db: Db;
  tools: Tools;
  entities: Entities;
  log: ToolLog;
  /** Time after which another worker can claim a run whose lease is not renewed; default 4 s. */
  leaseMs?: number;
  /** Time after which a sweep finds a due run again that no process has begun; default 5 s. */
  lostAfterMs?: number;
  /**
   * Maximum runs of the chains of triggers that one event, schedule or request
   * begins. Default: 1,000.
   */
  runsPerRoot?: number;
  /** Called after each attempt of a run, for metrics. */
  onRun?: (run: ClaimedRun, outcome: RunOutcome) => void;
}

export type Triggers = ReturnType<typeof createTriggers>;

/**
 * Runs that a sweep finds. A worker that begins one of a tenant continues with the
 * tenant's other due runs.
 */
const sweepLimit = 100;

/**
 * The functions of triggers that the worker and the API call. The due work is recorded in
 * PostgreSQL, so a call that is late, repeated or lost does no harm.
 */
export function createTriggers(options: TriggersOptions) {
  const {
    db,
    tools,
    entities,
    log,
    leaseMs = 4_000,
    lostAfterMs = 5_000,
    runsPerRoot = 1_000,
    onRun,
  } = options;
  const deps = { db, tools, entities, log, leaseMs, together: groupSteps({ db, leaseMs }) };
  return {
    /** Turns waiting events into runs. With `hasMore`, call it again immediately. */
    relay: () => planRuns(db, runsPerRoot),
    /**
     * Plans runs of due cron triggers. Returns the runs that are due, and the milliseconds until
     * the next is due.
     */
    async sweep(): Promise<{ due: DueRun[]; nextInMs: number | null }> {
      const ticks = await planCronRuns(db);
      const due = await dueRuns(db, { limit: sweepLimit, lostAfterMs });
      return { due: [...ticks, ...due], nextInMs: await nextDueInMs(db) };
    },
    /** Claims runs of a tenant, those that have been due for the longest time. */
    claimDue: (tenant: number, limit: number) => claimDueRuns(db, { tenant }, leaseMs, limit),
    /** Executes a claimed run. */
    async execute(run: ClaimedRun, signal?: AbortSignal): Promise<RunOutcome> {
      const outcome = await executeRun(deps, run, signal);
      onRun?.(run, outcome);
      return outcome;
    },
    fire: (scope: Scope, request: FireRequest) => fireTrigger(deps, scope, request),
  };
}
