import { type Db, isDatabaseUnavailable } from '@parley/db';
import { type ToolLog, type ToolResult, failure } from '@parley/tools';
import { RolledBack, type TransactionalStep, type groupSteps } from './group-steps';
import { type ClaimedRun, renewLease } from './run-store';

/**
 * Commits the effect of a tool together with its record, or rolls both back. `lost`: another worker
 * has claimed the run.
 */
export async function runInTransaction(
  { together, log }: { together: ReturnType<typeof groupSteps>; log: ToolLog },
  step: TransactionalStep,
): Promise<ToolResult | 'lost'> {
  try {
    return await together(step);
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    if (isTransient(error)) throw error;
    const { id, triggerSlug } = step.run;
    log.error({ err: error, runId: id, trigger: triggerSlug }, 'tool failed unexpectedly');
    return failure('execution_error', 'failed unexpectedly');
  }
}

/**
 * Renews the lease while a tool works outside of the database, and aborts the tool when
 * the lease is lost.
 */
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
 * Whether an error is due to an unavailable database, a deadlock or a lock timeout, so that
 * a retry may succeed. A statement timeout (57014) is not transient: the statement would
 * take as long again.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: string };
  return isDatabaseUnavailable(error) || ['40001', '40P01', '55P03'].includes(code ?? '');
}
