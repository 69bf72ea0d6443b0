import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded } from '@parley/agents';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';

const firstPollMs = 25;
const slowestPollMs = 500;

/** Waits until an execution has ended, at most `waitMs` and no longer than the client. Holds no connection between polls. */
export async function waitForExecution(
  db: Db,
  scope: Scope,
  id: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (let pollMs = firstPollMs; !(await hasEnded(db, scope, id)); pollMs = Math.min(pollMs * 1.5, slowestPollMs)) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0 || signal.aborted) return;
    await sleep(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => {});
  }
}
