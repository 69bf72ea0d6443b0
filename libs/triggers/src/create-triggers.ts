import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { ToolLog, Tools } from '@parley/tools';
import { type RunOutcome, executeRun } from './execute-run';
import { type FireRequest, type FireResult, fireTrigger } from './fire-trigger';
import type { DueRun } from './insert-runs';
import { planRuns } from './plan-runs';
import { type ClaimedRun, claimNextRun, claimRun, dueRuns, nextDueInMs } from './run-store';
import { tickTriggers } from './tick-triggers';

export interface TriggersOptions {
  db: Db;
  tools: Tools;
  entities: Entities;
  log: ToolLog;
  /** Milliseconds that a run belongs to a worker that is not heard of; 4 s unless told. */
  leaseMs?: number;
  /** After which a job that was sent for a run is taken for lost; 5 s unless told. */
  lostAfterMs?: number;
  /** Told of each run that begins or ends, for metrics. */
  onRun?: (run: ClaimedRun, outcome: RunOutcome) => void;
}

/** Triggers: what the worker does again and again, one run, and a run by hand. */
export interface Triggers {
  /** Turns events that wait into runs. Call again at once when there are more. */
  relay(): Promise<{ events: number; hasMore: boolean; due: DueRun[] }>;
  /** Runs of cron triggers and others that are due, or whose job or worker was lost; and when to call again. */
  sweep(): Promise<{ due: DueRun[]; nextInMs: number | null }>;
  /** Runs one run, when it is due and nobody has it, and then those of the same entity that waited for it. */
  run(runId: string, signal?: AbortSignal): Promise<RunOutcome[]>;
  fire(scope: Scope, request: FireRequest): Promise<FireResult>;
}

const sweepLimit = 1_000;

/** Wires triggers together. Rows of PostgreSQL say what is to be done; whoever calls may come late, twice or never. */
export function createTriggers(options: TriggersOptions): Triggers {
  const { db, tools, entities, log, leaseMs = 4_000, lostAfterMs = 5_000, onRun } = options;
  const deps = { db, tools, entities, log, leaseMs };
  return {
    relay: () => planRuns(db),
    async sweep() {
      const ticks = await tickTriggers(db);
      const due = await dueRuns(db, { limit: sweepLimit, lostAfterMs });
      return { due: [...ticks, ...due], nextInMs: await nextDueInMs(db) };
    },
    async run(runId, signal) {
      const outcomes: RunOutcome[] = [];
      let run = await claimRun(db, runId, leaseMs);
      while (run !== null) {
        const outcome = await executeRun(deps, run, signal);
        onRun?.(run, outcome);
        outcomes.push(outcome);
        const isOver =
          outcome === 'released' || outcome === 'lost' || run.entityId === null || signal?.aborted === true;
        run = isOver ? null : await claimNextRun(db, run.scope, run.entityId!, leaseMs);
      }
      return outcomes;
    },
    async fire(scope, request) {
      return fireTrigger(deps, scope, request);
    },
  };
}
