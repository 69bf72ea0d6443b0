import type { CallerContext, EventStreams } from '@parley/service';
import type { ExecutionStreams } from './execution-streams';

export interface ExecutionWaits {
  executionStreams: ExecutionStreams;
  /** Waits count as streams of executions. */
  streams: EventStreams;
}

/**
 * Waits until an execution has ended, at most `waitMs` and no longer than the client. Throws when
 * the caller or the organization has too many streams and waits, and when the caller may no longer
 * ask. `leave`: of `streams.admit`, if the caller has been admitted before.
 */
export async function waitForExecution(
  { executionStreams, streams }: ExecutionWaits,
  { caller, scope, signal, checkAgain }: CallerContext,
  id: string,
  waitMs: number,
  leave = streams.admit(caller),
): Promise<void> {
  try {
    await executionStreams.waitForEnd(scope, id, { waitMs, signal });
  } finally {
    leave();
  }
  // The caller may have lost its rights while it waited.
  await checkAgain();
}
