import type { Db } from '@parley/db';
import type { ToolResult } from '@parley/tools';
import { type ClaimedRun, renewLease } from './run-store';

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
