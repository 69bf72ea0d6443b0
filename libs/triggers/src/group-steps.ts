import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '@parley/contracts';
import { type Db, type Queryable, batchCalls } from '@parley/db';
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

/** Thrown inside a transaction to roll it back. */
export class RolledBack extends Error {
  constructor(readonly result: ToolFailure | 'lost') {
    super('rolled back');
  }
}

/** An action that took longer has its own transaction the next time, so that others do not wait for it. */
const slowMs = 10;
/** Maximum number of steps of a transaction, which holds their locks until it commits. */
const largestGroup = 24;

/**
 * Returns a function that commits the effect of a step together with its record. Steps of a tenant that arrive while a
 * transaction runs share the next one (docs/adr/0072). If one of them fails, all are rolled back, and each is executed in its
 * own transaction. Rejects with `RolledBack` when the step fails; `lost`: another worker has claimed the run.
 */
export function groupSteps({ db, leaseMs }: { db: Db; leaseMs: number }) {
  const lastMs = new LRUCache<string, number>({ max: 10_000 });
  const groups = new Map<number, { size: number; add: (step: TransactionalStep) => Promise<ToolResult | 'lost'> }>();
  const execute = (steps: readonly TransactionalStep[]) => executeSteps(db, leaseMs, steps);

  return async (step: TransactionalStep): Promise<ToolResult | 'lost'> => {
    const { tenant, environment } = step.run.scope;
    const key = `${tenant} ${environment} ${step.run.triggerSlug} ${step.index}`;
    const inContext = AsyncLocalStorage.snapshot();
    const timed: TransactionalStep = {
      ...step,
      async work(tx) {
        const startedAtMs = performance.now();
        const result = await inContext(step.work, tx);
        lastMs.set(key, performance.now() - startedAtMs);
        return result;
      },
    };
    if ((lastMs.get(key) ?? Infinity) > slowMs) return (await execute([timed]))[0]!;
    const group = groups.get(tenant) ?? { size: 0, add: batchCalls(execute, { lanes: 1, largest: largestGroup }) };
    groups.set(tenant, group);
    group.size += 1;
    try {
      return await group.add(timed);
    } finally {
      group.size -= 1;
      if (group.size === 0) groups.delete(tenant);
    }
  };
}

/** Executes steps of one tenant, one after the other, in one transaction. */
function executeSteps(db: Db, leaseMs: number, steps: readonly TransactionalStep[]): Promise<(ToolResult | 'lost')[]> {
  const { scope } = steps[0]!.run;
  return db.transaction(async (client) => {
    const held = await holdRuns(
      client,
      scope,
      steps.map(({ run }) => run),
    );
    const results: (ToolResult | 'lost')[] = [];
    const records: RunRecord[] = [];
    for (const { run, work, recordOf } of steps) {
      if (!held.has(run.id)) {
        results.push('lost');
        continue;
      }
      const guarded = closable(client);
      const result = await work(guarded.tx).finally(guarded.end);
      if (!result.ok) throw new RolledBack(result);
      results.push(result);
      records.push(recordOf(result.result));
    }
    if (records.length > 0 && (await recordRuns(client, scope, records, leaseMs)).size < records.length)
      throw new RolledBack('lost');
    return results;
  });
}

/** A tool that has reached its time limit may still be running: its later statements must not reach the connection. */
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
