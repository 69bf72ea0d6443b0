import type { Json } from '@parley/contracts';
import { type Db, type Queryable, isDatabaseUnavailable } from '@parley/db';
import { type ToolFailure, type ToolLog, type ToolResult, failure } from '@parley/tools';
import { type ClaimedRun, type RunRecord, holdRun, recordRun } from './run-store';

/** An action whose effect is in the database. */
interface TransactionalStep {
  run: ClaimedRun;
  /** Makes the effect. */
  work: (tx: Queryable) => Promise<ToolResult>;
  /** What is recorded of the run with this result. */
  recordOf: (result: Json) => RunRecord;
}

/** Thrown inside a transaction to roll it back. */
class RolledBack extends Error {
  constructor(readonly result: ToolFailure | 'lost') {
    super('rolled back');
  }
}

/**
 * Commits the effect of a tool together with its record, or rolls both back. `lost`: another worker has
 * claimed the run.
 */
export async function runInTransaction(
  { db, leaseMs, log }: { db: Db; leaseMs: number; log: ToolLog },
  { run, work, recordOf }: TransactionalStep,
): Promise<ToolResult | 'lost'> {
  try {
    return await db.transaction(async (client) => {
      if (!(await holdRun(client, run))) return 'lost';
      const guarded = closable(client);
      const result = await work(guarded.tx).finally(guarded.end);
      if (!result.ok) throw new RolledBack(result);
      const isOurs = await recordRun(client, recordOf(result.result), leaseMs);
      if (!isOurs) throw new RolledBack('lost');
      return result;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    if (isTransient(error)) throw error;
    const { id, triggerSlug } = run;
    log.error({ err: error, runId: id, trigger: triggerSlug }, 'tool failed unexpectedly');
    return failure('execution_error', 'failed unexpectedly');
  }
}

/**
 * Whether an error is due to an unavailable database, a deadlock or a lock timeout, so that a retry may
 * succeed. A statement timeout (57014) is not transient: the statement would take as long again.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: string };
  return isDatabaseUnavailable(error) || ['40001', '40P01', '55P03'].includes(code ?? '');
}

/**
 * A tool that has reached its time limit may still be running: its later statements must not reach the
 * connection.
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
