import type { Json } from '@parley/contracts';
import { type Db, type Queryable, isDatabaseUnavailable } from '@parley/db';
import { type ToolFailure, type ToolLog, type ToolResult, failure } from '@parley/tools';
import { type ClaimedRun, holdRun, renewLease } from './run-store';

/** Thrown inside a transaction to roll it back. */
class RolledBack extends Error {
  constructor(readonly result: ToolFailure | 'lost') {
    super('rolled back');
  }
}

/** Commits the effect of a tool together with its record, or rolls both back. `lost`: another worker has claimed the run. */
export async function runInTransaction(
  { db, log }: { db: Db; log: ToolLog },
  run: ClaimedRun,
  work: (tx: Queryable) => Promise<ToolResult>,
  record: (tx: Queryable, result: Json) => Promise<boolean>,
): Promise<ToolResult | 'lost'> {
  try {
    return await db.transaction(async (client) => {
      if (!(await holdRun(client, run))) throw new RolledBack('lost');
      const guarded = closable(client);
      const result = await work(guarded.tx).finally(guarded.end);
      if (!result.ok) throw new RolledBack(result);
      if (!(await record(client, result.result))) throw new RolledBack('lost');
      return result;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    if (isTransient(error)) throw error;
    log.error({ err: error, runId: run.id, trigger: run.triggerSlug }, 'tool failed unexpectedly');
    return failure('execution_error', 'failed unexpectedly');
  }
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

/** Renews the lease while a tool works outside of the database, and aborts the tool when the lease is lost. */
export async function runUnderLease(
  { db, leaseMs }: { db: Db; leaseMs: number },
  run: ClaimedRun,
  work: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult | 'lost'> {
  if (!(await renewLease(db, run, leaseMs))) return 'lost';
  const lost = new AbortController();
  const timer = setInterval(() => {
    renewLease(db, run, leaseMs).then(
      (isOurs) => isOurs || lost.abort(),
      () => {}, // the next renewal may succeed, and recording the step checks the fence
    );
  }, leaseMs / 3);
  try {
    const result = await work(lost.signal);
    return lost.signal.aborted ? 'lost' : result;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Whether an error is due to an unavailable database, a deadlock or a lock timeout, so that a retry may succeed. A statement
 * timeout (57014) is not transient: the statement would take as long again.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: string };
  return isDatabaseUnavailable(error) || ['40001', '40P01', '55P03'].includes(code ?? '');
}
