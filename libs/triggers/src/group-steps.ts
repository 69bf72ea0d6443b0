import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '@parley/contracts';
import { type Db, type Queryable, batchCalls, isDatabaseUnavailable } from '@parley/db';
import type { ToolFailure, ToolResult } from '@parley/tools';
import { LRUCache } from 'lru-cache';
import { type ClaimedRun, type RunRecord, holdRuns, recordRuns } from './run-store';

/** An action whose effect is in the database. */
export interface TransactionalStep {
  run: ClaimedRun;
  /** The number of the action. */
  index: number;
  /** Makes the effect. */
  work: (tx: Queryable) => Promise<ToolResult>;
  /** What is recorded of the run with this result. */
  recordOf: (result: Json) => RunRecord;
}

/** `lost`: another worker has claimed the run. */
export type StepResult = ToolResult | 'lost';

/** Thrown inside a transaction to roll it back. */
export class RolledBack extends Error {
  constructor(readonly result: ToolFailure | 'lost') {
    super('rolled back');
  }
}

/** Maximum number of steps of a transaction, which holds their locks until it commits. */
const largestGroup = 24;
/**
 * An action that takes longer has its own transaction for a while, so that others do
 * not wait for it.
 */
const slowMs = 100;
const aloneMs = 10_000;
/**
 * The longest wait of a shared transaction for a lock. Those of two processes may lock the same
 * entities in different orders; PostgreSQL would notice that after a second.
 */
const lockTimeoutMs = 50;
const options = {
  keyOf: ({ run }: TransactionalStep) => run.scope.tenant,
  lanes: 1,
  largest: largestGroup,
  patienceMs: slowMs,
};

/**
 * Returns a function that commits the effect of a step together with its record. Steps of a tenant
 * that arrive while its transactions run share the next one (docs/adr/0077). If one of them fails
 * or is slow, all are rolled back, and each is executed in its own transaction. Rejects with
 * `RolledBack` when the step fails; `lost`: another worker has claimed the run.
 */
export function groupSteps({ db, leaseMs }: { db: Db; leaseMs: number }) {
  /** Actions that are not executed in a shared transaction: they were slow or have failed. */
  const alone = new LRUCache<string, true>({ max: 10_000, ttl: aloneMs });
  const share = batchCalls(executeGroup, options);

  async function executeGroup(
    steps: readonly TransactionalStep[],
  ): Promise<(StepResult | 'alone')[]> {
    try {
      return await executeSteps(db, leaseMs, steps);
    } catch (error) {
      if (steps.length === 1 || isDatabaseUnavailable(error)) throw error;
      return steps.map(() => 'alone');
    }
  }

  return async (step: TransactionalStep): Promise<StepResult> => {
    const { tenant, environment } = step.run.scope;
    const key = `${tenant} ${environment} ${step.run.triggerSlug} ${step.index}`;
    // The trace of the run, not of the call that executes the group.
    const inContext = AsyncLocalStorage.snapshot();
    async function work(tx: Queryable): Promise<ToolResult> {
      const startedAtMs = performance.now();
      let isFast = false;
      try {
        const result = await inContext(step.work, tx);
        isFast = result.ok && performance.now() - startedAtMs <= slowMs;
        return result;
      } finally {
        if (!isFast) alone.set(key, true);
      }
    }
    const given = { ...step, work };
    const result = alone.has(key) ? 'alone' : await share(given);
    return result === 'alone' ? (await executeSteps(db, leaseMs, [given]))[0]! : result;
  };
}

/** Executes steps of one tenant, one after the other, in one transaction. */
function executeSteps(
  db: Db,
  leaseMs: number,
  steps: readonly TransactionalStep[],
): Promise<StepResult[]> {
  const { scope } = steps[0]!.run;
  const runs = steps.map(({ run }) => run);
  return db.transaction(async (client) => {
    const held = await holdRuns(client, scope, runs, steps.length > 1 ? lockTimeoutMs : undefined);
    const results: StepResult[] = [];
    const records: RunRecord[] = [];
    for (const { run, work, recordOf } of steps) {
      if (!held.has(run.id)) {
        results.push('lost');
        continue;
      }
      const guarded = closable(client);
      const startedAtMs = performance.now();
      const result = await work(guarded.tx).finally(guarded.end);
      const isSlow = performance.now() - startedAtMs > slowMs;
      if (isSlow && results.length < steps.length - 1)
        throw new Error('The step is too slow for a shared transaction');
      if (!result.ok) throw new RolledBack(result);
      results.push(result);
      records.push(recordOf(result.result));
    }
    if (
      records.length > 0 &&
      (await recordRuns(client, scope, records, leaseMs)).size < records.length
    )
      throw new RolledBack('lost');
    return results;
  });
}

/**
 * A tool that has reached its time limit may still be running: its later statements must not
 * reach the connection.
 */
function closable(client: Queryable): { tx: Queryable; end: () => void } {
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
