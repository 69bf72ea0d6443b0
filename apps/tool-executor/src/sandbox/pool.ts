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

/** How often a call that waits looks whether another process would help. */
const growAfterMs = 25;
const startingAtOnce = 2;
/** A call that runs longer holds its process: it waits for others, or wants all it can get. */
const heldAfterMs = 50;
/** With so many processes turning over quickly, a wait is for the processor, and one process more would only share it. */
const turningOver = 2;
const restartDelayMs = 500;

/**
 * Processes that serve one call at a time. `min` are warm. When nearly all are held by long calls, which mostly wait
 * for others' servers, a call that waits makes the pool grow up to `max`; idle ones beyond `min` leave. The queue is
 * bounded in length and time.
 */
export function createPool(options: PoolOptions): Pool {
  const { min, max, maxQueue, queueTimeoutMs, idleMs = 30_000 } = options;
  const idle: { process: SandboxProcess; since: number }[] = [];
  /** With the time at which each was leased last. */
  const alive = new Map<SandboxProcess, number>();
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
      alive.set(process, performance.now());
      process.onExit(() => {
        alive.delete(process);
        const at = idle.findIndex((one) => one.process === process);
        if (at !== -1) idle.splice(at, 1);
        refill();
      });
      offer(process);
      refill();
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
    // A few at a time: all at once would only make the first one later.
    while (!isClosed && count() < min && starting < startingAtOnce) void add();
  }

  const sweep = setInterval(() => {
    const before = performance.now() - idleMs;
    while (alive.size > min && idle.length > 0 && idle[0]!.since < before) idle.shift()!.process.kill();
  }, 5000);
  sweep.unref();

  function growIfHeld(): void {
    const before = performance.now() - heldAfterMs;
    const held = [...alive.values()].filter((leasedAt) => leasedAt < before).length;
    if (starting === 0 && alive.size - held < turningOver) void add();
  }

  function lease(process: SandboxProcess): Lease {
    process.listen(null);
    alive.set(process, performance.now());
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
          clearInterval(grow);
          clearTimeout(giveUp);
          resolve(process && lease(process));
        };
        const grow = setInterval(growIfHeld, growAfterMs);
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
      for (const process of alive.keys()) process.kill();
    },
  };
}
