import { setTimeout as sleep } from 'node:timers/promises';

/** The part of a process's log that a start writes to. */
export interface StartLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}

export interface Dependency {
  name: string;
  log: StartLog;
  /** Whether an error says that the dependency is not there (yet); every other error is thrown. */
  isUnavailable: (error: unknown) => boolean;
  retryMs?: number;
}

const tellEveryMs = 10_000;

/**
 * At the start of a process: tries until the dependency answers, however long that takes. Whoever started the process
 * decides how long it may (a startup probe, for one); what is being waited for is logged.
 */
export async function untilAvailable<T>(dependency: Dependency, work: () => Promise<T>): Promise<T> {
  const { name, log, isUnavailable, retryMs = 500 } = dependency;
  let toldAtMs = -Infinity;
  for (;;) {
    try {
      const result = await work();
      if (toldAtMs > 0) log.info({ dependency: name }, 'the dependency answers');
      return result;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (performance.now() - toldAtMs > tellEveryMs) {
        toldAtMs = performance.now();
        log.warn({ dependency: name, err: error }, 'waiting for a dependency');
      }
      await sleep(retryMs);
    }
  }
}
