import { setImmediate } from 'node:timers/promises';
import { reportRefusal } from '@parley/contracts';

/** Time after which the checks of a push let other requests of the process run. */
const turnMs = 10;

/** The checks of a push take longer than its budget. */
export class PushTooComplex extends Error {}

export type PushBudget = ReturnType<typeof createPushBudget>;

/**
 * The time that the checks of one push may take. `pause` is called between definitions, so that
 * other requests run.
 */
export function createPushBudget(limitMs: number) {
  let leftMs = limitMs;
  let resumedAt = performance.now();
  let yieldedAt = resumedAt;
  return {
    /** Begins to count. The time since the last pause, such as that of queries, is not counted. */
    resume(): void {
      resumedAt = yieldedAt = performance.now();
    },
    async pause(): Promise<void> {
      const now = performance.now();
      leftMs -= now - resumedAt;
      resumedAt = now;
      if (leftMs < 0) {
        reportRefusal('push_too_complex');
        throw new PushTooComplex();
      }
      if (now - yieldedAt < turnMs) return;
      await setImmediate();
      // Work of other requests is not counted.
      resumedAt = yieldedAt = performance.now();
    },
  };
}
