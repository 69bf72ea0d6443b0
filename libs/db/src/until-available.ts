import { setTimeout as sleep } from 'node:timers/promises';

/** The functions of a logger that are used at the start of a process. */
export interface StartLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}

export interface Dependency {
  name: string;
  log: StartLog;
  /** Whether an error means that the dependency is unavailable. All other errors are thrown. */
  isUnavailable: (error: unknown) => boolean;
  retryMs?: number;
}

const logEveryMs = 10_000;

/**
 * Repeats `work` at the start of a process until the dependency is available, and logs that it
 * waits. There is no time limit: the supervisor of the process has one, such as a startup probe.
 */
export async function untilAvailable<T>(
  dependency: Dependency,
  work: () => Promise<T>,
): Promise<T> {
  const { name, log, isUnavailable, retryMs = 500 } = dependency;
  let loggedAtMs = -Infinity;
  for (;;) {
    try {
      const result = await work();
      if (loggedAtMs > 0) log.info({ dependency: name }, 'the dependency is available');
      return result;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (performance.now() - loggedAtMs > logEveryMs) {
        loggedAtMs = performance.now();
        log.warn({ dependency: name, err: error }, 'waiting for a dependency');
      }
      await sleep(retryMs);
    }
  }
}
