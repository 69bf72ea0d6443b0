import { type ProcessSetOptions, createProcessSet } from './process-set';
import type { SandboxProcess } from './start-process';

export interface PoolOptions extends ProcessSetOptions {
  /** Maximum under load, for calls from outside. */
  max: number;
  /** Added to `max` for each level of nesting: a nested call must not wait for the calls that wait for it. */
  perLevel?: number;
  /** Calls from outside that may wait; further ones are refused. */
  maxQueue: number;
  /** How long a call waits for a process before it is refused. */
  queueTimeoutMs: number;
}

/** A process for one call. The caller ends it with exactly one of the two methods. */
export interface AcquiredProcess {
  process: SandboxProcess;
  /** Returns the process for the next call. */
  release(): void;
  /** Kills a process that cannot serve another call. */
  discard(): void;
}

interface AcquireOptions {
  /** How many calls hold a process of this pool while they wait for this one. */
  depth?: number;
  /** Aborted when the process is no longer needed. */
  signal?: AbortSignal;
}

export type Pool = ReturnType<typeof createPool>;

/** How often a waiting call checks whether another process would help. */
const growAfterMs = 25;
/** Limit of a nested call's wait, for a caller that never aborts its signal. */
const nestedTimeoutMs = 60_000;

interface Waiter {
  depth: number;
  settle: (process: SandboxProcess | null) => void;
}

/**
 * Processes that serve one call at a time. When long calls hold nearly all of them, a waiting call makes the pool grow.
 * Idle processes beyond `min` are ended.
 *
 * Calls from outside share `max` processes, in a queue that is limited in length and time. Nested calls must always get a
 * process, or all would wait for each other. So each level has `perLevel` more processes, the deepest calls go first, as
 * their end lets others continue, and they wait as long as their caller does. Their number is limited by the limit on the
 * requests of a run.
 */
export function createPool(options: PoolOptions) {
  const { max, perLevel = 0, maxQueue, queueTimeoutMs } = options;
  const { idle, alive, ...processes } = createProcessSet(options, serve);
  /** The deepest first, then in order of arrival. */
  const waiting: Waiter[] = [];
  let inUse = 0;
  let isClosed = false;

  const maxAt = (depth: number): number => max + depth * perLevel;

  /** The first in the queue has the highest maximum: when it must wait, so must all others. */
  function serve(): void {
    while (idle.length > 0 && waiting.length > 0 && inUse < maxAt(waiting[0]!.depth)) {
      waiting.shift()!.settle(idle.pop()!.process);
    }
  }

  function toAcquired(process: SandboxProcess): AcquiredProcess {
    process.listen(null);
    alive.set(process, performance.now());
    inUse++;
    return {
      process,
      release: () => {
        process.listen(null);
        inUse--;
        if (alive.has(process)) processes.offer(process);
        else serve();
      },
      discard: () => {
        process.listen(null);
        inUse--;
        process.kill();
        serve();
      },
    };
  }

  return {
    /** Resolves with null when the queue is full, the wait was too long or the signal was aborted. */
    acquire({ depth = 0, signal }: AcquireOptions = {}): Promise<AcquiredProcess | null> {
      if (isClosed || signal?.aborted) return Promise.resolve(null);
      // The process used last is the warmest; the others can become idle for long enough to be ended.
      if (idle.length > 0 && inUse < maxAt(depth)) return Promise.resolve(toAcquired(idle.pop()!.process));
      if (depth === 0 && waiting.filter((one) => one.depth === 0).length >= maxQueue) return Promise.resolve(null);
      const timeoutMs = depth === 0 ? queueTimeoutMs : nestedTimeoutMs;
      const grow = () => processes.growIfHeld(maxAt(waiting[0]?.depth ?? 0));
      return wait(waiting, { depth, signal, timeoutMs }, grow, toAcquired);
    },
    stats: () => ({ processes: alive.size, idle: idle.length, waiting: waiting.length }),
    warm: processes.warm,
    close(): void {
      isClosed = true;
      processes.stop();
      for (const { settle } of waiting.splice(0)) settle(null);
      for (const process of alive.keys()) process.kill();
    },
  };
}

/** Waits in the queue. `toAcquired` runs as soon as there is a process, before the next waiter is served. */
function wait(
  waiting: Waiter[],
  { depth, signal, timeoutMs }: { depth: number; signal?: AbortSignal; timeoutMs: number },
  grow: () => void,
  toAcquired: (process: SandboxProcess) => AcquiredProcess,
): Promise<AcquiredProcess | null> {
  return new Promise((resolve) => {
    const settle = (process: SandboxProcess | null) => {
      clearInterval(growing);
      clearTimeout(timeout);
      signal?.removeEventListener('abort', giveUp);
      resolve(process && toAcquired(process));
    };
    const waiter = { depth, settle };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(waiter), 1);
      settle(null);
    };
    const growing = setInterval(grow, growAfterMs);
    const timeout = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    const behind = waiting.findIndex((one) => one.depth < depth);
    waiting.splice(behind === -1 ? waiting.length : behind, 0, waiter);
  });
}
