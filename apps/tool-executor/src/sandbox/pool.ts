import type { SandboxProcess } from './start-process';

export interface PoolOptions {
  start: () => Promise<SandboxProcess>;
  /** Kept warm. */
  min: number;
  /** Under load. */
  max: number;
  /** Calls that may wait; one more is refused. */
  maxQueue: number;
  /** How long a call waits for a process before it is refused. */
  queueTimeoutMs: number;
  /** How long a process beyond `min` stays without work. */
  idleMs?: number;
  onStartFailure: (error: unknown) => void;
}

/** A process for one call; exactly one of the two ends it. */
export interface Lease {
  process: SandboxProcess;
  /** The process can serve the next call. */
  release(): void;
  /** It cannot: kill it and warm another. */
  discard(): void;
}

export interface Pool {
  /** Null when overloaded: the queue is full, or the wait was too long. */
  acquire(): Promise<Lease | null>;
  stats(): { processes: number; idle: number; waiting: number };
  /** Resolves once `min` processes are warm. */
  warm(): Promise<void>;
  close(): void;
}

/** A wait longer than this starts another process: one that is busy with fast calls is free before that. */
const growAfterMs = 25;
const restartDelayMs = 500;

/**
 * Processes that serve one call at a time. `min` are warm; a call that waits a moment makes the pool grow up to `max`,
 * since handlers mostly wait for others' servers; idle ones beyond `min` leave. The queue is bounded in length and time.
 */
export function createPool(options: PoolOptions): Pool {
  const { min, max, maxQueue, queueTimeoutMs, idleMs = 30_000 } = options;
  const idle: { process: SandboxProcess; since: number }[] = [];
  const alive = new Set<SandboxProcess>();
  const waiting: ((process: SandboxProcess | null) => void)[] = [];
  let warmWaiters: (() => void)[] = [];
  let starting = 0;
  let isClosed = false;

  const count = (): number => alive.size + starting;

  function offer(process: SandboxProcess): void {
    const next = waiting.shift();
    if (next) next(process);
    else idle.push({ process, since: performance.now() });
  }

  async function add(): Promise<void> {
    if (isClosed || count() >= max) return;
    starting++;
    try {
      const process = await options.start();
      starting--;
      if (isClosed) return process.kill();
      alive.add(process);
      process.onExit(() => {
        alive.delete(process);
        const at = idle.findIndex((one) => one.process === process);
        if (at !== -1) idle.splice(at, 1);
        refill();
      });
      offer(process);
      if (alive.size >= min) {
        for (const tell of warmWaiters) tell();
        warmWaiters = [];
      }
    } catch (error) {
      starting--;
      options.onStartFailure(error);
      setTimeout(refill, restartDelayMs).unref();
    }
  }

  function refill(): void {
    // One that waits needs a process as much as the warm minimum does.
    const wanted = Math.max(min, Math.min(max, alive.size - idle.length + waiting.length));
    for (let missing = wanted - count(); missing > 0; missing--) void add();
  }

  const sweep = setInterval(() => {
    const before = performance.now() - idleMs;
    while (alive.size > min && idle.length > 0 && idle[0]!.since < before) idle.shift()!.process.kill();
  }, 5000);
  sweep.unref();

  function lease(process: SandboxProcess): Lease {
    process.listen(null);
    return {
      process,
      release: () => {
        process.listen(null);
        if (alive.has(process)) offer(process);
      },
      discard: () => {
        process.listen(null);
        process.kill();
      },
    };
  }

  refill();
  return {
    acquire() {
      // The one used last is the warmest; the others may grow idle and leave.
      const free = idle.pop();
      if (free) return Promise.resolve(lease(free.process));
      if (waiting.length >= maxQueue || isClosed) return Promise.resolve(null);
      return new Promise((resolve) => {
        const settle = (process: SandboxProcess | null) => {
          clearTimeout(grow);
          clearTimeout(giveUp);
          resolve(process && lease(process));
        };
        const grow = setTimeout(() => void (starting === 0 && add()), growAfterMs);
        const giveUp = setTimeout(() => {
          waiting.splice(waiting.indexOf(settle), 1);
          settle(null);
        }, queueTimeoutMs);
        waiting.push(settle);
      });
    },
    stats: () => ({ processes: alive.size, idle: idle.length, waiting: waiting.length }),
    warm: () => (alive.size >= min ? Promise.resolve() : new Promise((resolve) => void warmWaiters.push(resolve))),
    close() {
      isClosed = true;
      clearInterval(sweep);
      for (const settle of waiting.splice(0)) settle(null);
      for (const process of alive) process.kill();
    },
  };
}
