import { HttpError } from './errors';

/**
 * Age of the look-up of a caller that a process may have cached when a request begins
 * (libs/identity).
 */
const cachedForMs = 800;

export interface CallerCheckOptions {
  /**
   * Time between two checks of a caller. A revocation is effective within it, and the
   * time of a statement.
   */
  checkEveryMs: number;
  clock: () => number;
}

export interface CheckedCaller {
  /**
   * Throws the error for a caller that may no longer ask. Rejects with another one when that
   * cannot be known now.
   */
  checkAgain: () => Promise<void>;
  /** Called once, when the caller may no longer ask. */
  refuse: () => void;
}

export interface CallerCheck {
  /**
   * Resolves when the last check is recent: at once, or after a new one, which may have
   * refused the caller.
   */
  whenRecent(): Promise<void> | undefined;
  /** Ends the checks. */
  remove(): void;
}

/**
 * Checks the callers of open answers again and again. All of them are checked in one turn of the
 * event loop, so that their look-ups share a statement.
 */
export function createCallerChecks({
  checkEveryMs,
  clock,
}: CallerCheckOptions): (caller: CheckedCaller) => CallerCheck {
  const checks = new Set<() => Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  function begin(check: () => Promise<void>): void {
    checks.add(check);
    timer ??= setInterval(() => {
      for (const each of checks) void each();
    }, checkEveryMs);
  }

  function end(check: () => Promise<void>): void {
    checks.delete(check);
    if (checks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return ({ checkAgain, refuse }) => {
    let checkedAtMs = clock() - cachedForMs;
    let running: Promise<void> | undefined;

    async function ask(): Promise<void> {
      const askedAtMs = clock();
      const isRefused = await checkAgain().then(() => false, isRefusal);
      running = undefined;
      // While the database is away, the caller stays allowed.
      checkedAtMs = askedAtMs;
      if (!isRefused || !checks.has(check)) return;
      end(check);
      refuse();
    }
    const check = () => (running ??= ask());

    begin(check);
    return {
      whenRecent: () => (clock() - checkedAtMs < checkEveryMs ? undefined : check()),
      remove: () => end(check),
    };
  };
}

const isRefusal = (error: unknown): boolean => error instanceof HttpError && error.status < 500;
