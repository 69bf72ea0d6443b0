import { ParleyApiError } from '@parley/client';
import { isLost } from '../api/errors';
import type { Progress } from './work';

/** Repetitions of a request whose server is away, which can be repeated without another effect. */
const maxRepeats = 6;
const firstPauseMs = 1_000;
/**
 * The window of the rate limit (docs/reference/limits.md#rate-limits). The clock of this device may
 * be hours behind the server's.
 */
const maxPauseMs = 60_000;

/**
 * Repeats a call of a long work while its rate is limited, and a few times while the server is away
 * or still busy with it.
 */
export async function untilAdmitted<T>(
  call: () => Promise<T>,
  { signal, wait }: Progress,
): Promise<T> {
  for (let repeats = 0; ;) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ParleyApiError)) throw error;
      const isLimited = error.status === 429;
      const isAway = isLost(error) || error.code === 'idempotency_in_progress';
      if (!isLimited && (!isAway || repeats >= maxRepeats)) throw error;
      if (!isLimited) repeats += 1;
      const admittedInMs = Math.min((error.retryAt ?? 0) - Date.now(), maxPauseMs);
      const pauseMs = Math.max(firstPauseMs, admittedInMs, isAway ? firstPauseMs * repeats : 0);
      wait(true);
      await pause(pauseMs, signal);
      wait(false);
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
