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

/** Maximum number of steps of a transaction, which holds their locks until it commits. */
const largestGroup = 24;
/** Shared transactions of a tenant at the same time. With two, groups are half as large and cost PostgreSQL half as much again. */
const lanes = 1;
/** An action that takes longer has its own transaction for a while, so that others do not wait for it. */
const slowMs = 10;
const aloneMs = 10_000;
/**
 * The longest wait of a shared transaction for a lock. Those of two processes may lock the same entities in different orders;
 * PostgreSQL would notice that after a second.
 */
const lockTimeoutMs = 50;

/**
 * Returns a function that commits the effect of a step together with its record. Steps of a tenant that arrive while its
 * transactions run share the next one (docs/adr/0072). If one of them fails, all are rolled back, and each is executed in
 * its own transaction. Rejects with `RolledBack` when the step fails; `lost`: another worker has claimed the run.
 */
export function groupSteps({ db, leaseMs }: { db: Db; leaseMs: number }) {
  /** Actions that are not executed in a shared transaction: they were slow or have failed. */
  const alone = new LRUCache<string, true>({ max: 10_000, ttl: aloneMs });
  const groups = new Map<number, { size: number; add: (step: TransactionalStep) => Promise<ToolResult | 'lost'> }>();
  const execute = (steps: readonly TransactionalStep[]) => executeSteps(db, leaseMs, steps);

  return async (step: TransactionalStep): Promise<ToolResult | 'lost'> => {
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
    if (alone.has(key)) return (await execute([{ ...step, work }]))[0]!;
    const group = groups.get(tenant) ?? { size: 0, add: batchCalls(execute, { lanes, largest: largestGroup }) };
    groups.set(tenant, group);
    group.size += 1;
    try {
      return await group.add({ ...step, work });
    } finally {
      group.size -= 1;
      if (group.size === 0) groups.delete(tenant);
    }
  };
}

/** Executes steps of one tenant, one after the other, in one transaction. */
function executeSteps(db: Db, leaseMs: number, steps: readonly TransactionalStep[]): Promise<(ToolResult | 'lost')[]> {
  const { scope } = steps[0]!.run;
  const runs = steps.map(({ run }) => run);
  return db.transaction(async (client) => {
    const held = await holdRuns(client, scope, runs, steps.length > 1 ? lockTimeoutMs : undefined);
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
