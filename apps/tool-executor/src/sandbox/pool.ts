import type { SandboxProcess } from './start-process';

export interface PoolOptions {
  /** `isUrgent`: no other process is free. */
  start: (isUrgent: boolean) => Promise<SandboxProcess>;
  /** Kept warm. */
  min: number;
  /** Under load, for calls from outside. */
  max: number;
  /** Added to `max` for each level of nesting: a nested call must not wait for those that wait for it. */
  perLevel?: number;
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

export interface Claim {
  /** How many calls hold a process of this pool while they wait for this one. */
  depth?: number;
  /** Aborted when nobody waits for the process any more. */
  signal?: AbortSignal;
}

export interface Pool {
  /** Null when overloaded (the queue is full, or the wait was too long), or when the claim was given up. */
  acquire(claim?: Claim): Promise<Lease | null>;
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
/** A nested call is given up with the call that waits for it; this is for a caller that never says so. */
const nestedTimeoutMs = 60_000;

interface Waiter {
  depth: number;
  settle: (process: SandboxProcess | null) => void;
}

/**
 * Processes that serve one call at a time. `min` are warm. When nearly all are held by long calls, which mostly wait
 * for others' servers, a call that waits makes the pool grow; idle ones beyond `min` leave.
 *
 * Calls from outside share `max`, in a queue that is bounded in length and time. Nested ones must come through, or all
 * would wait for each other: they have `perLevel` more for each level, the deepest go first, as their end sets others
 * free, and they wait as long as their caller does (whose own questions are bounded, so their queue is too).
 */
export function createPool(options: PoolOptions): Pool {
  const { min, max, perLevel = 0, maxQueue, queueTimeoutMs, idleMs = 30_000 } = options;
  const idle: { process: SandboxProcess; since: number }[] = [];
  /** With the time at which each was leased last. */
  const alive = new Map<SandboxProcess, number>();
  /** Deepest first, then in order of arrival. */
  const waiting: Waiter[] = [];
  let warmWaiters: (() => void)[] = [];
  let starting = 0;
  let leased = 0;
  let isClosed = false;

  const count = (): number => alive.size + starting;
  const roomAt = (depth: number): number => max + depth * perLevel;

  function offer(process: SandboxProcess): void {
    idle.push({ process, since: performance.now() });
    serve();
  }

  /** Who is first in the queue has the most room: when there is none for it, there is none for the others. */
  function serve(): void {
    while (idle.length > 0 && waiting.length > 0 && leased < roomAt(waiting[0]!.depth)) {
      waiting.shift()!.settle(idle.pop()!.process);
    }
  }

  async function add(most: number): Promise<void> {
    if (isClosed || count() >= most) return;
    starting++;
    try {
      const process = await options.start(idle.length === 0);
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
      // Keeps the process alive: at the start nothing else does yet, and it would end instead of trying again.
      setTimeout(refill, restartDelayMs);
    }
  }

  function refill(): void {
    // A few at a time: all at once would only make the first one later.
    while (!isClosed && count() < min && starting < startingAtOnce) void add(min);
  }

  const sweep = setInterval(() => {
    const before = performance.now() - idleMs;
    while (alive.size > min && idle.length > 0 && idle[0]!.since < before) idle.shift()!.process.kill();
  }, 5000);
  sweep.unref();

  function growIfHeld(): void {
    const before = performance.now() - heldAfterMs;
    const held = [...alive.values()].filter((leasedAt) => leasedAt < before).length;
    if (starting === 0 && alive.size - held < turningOver) void add(roomAt(waiting[0]?.depth ?? 0));
  }

  function lease(process: SandboxProcess): Lease {
    process.listen(null);
    alive.set(process, performance.now());
    leased++;
    return {
      process,
      release: () => {
        process.listen(null);
        leased--;
        if (alive.has(process)) offer(process);
        else serve();
      },
      discard: () => {
        process.listen(null);
        leased--;
        process.kill();
        serve();
      },
    };
  }

  refill();
  return {
    acquire({ depth = 0, signal } = {}) {
      if (isClosed || signal?.aborted) return Promise.resolve(null);
      // The one used last is the warmest; the others may grow idle and leave.
      if (idle.length > 0 && leased < roomAt(depth)) return Promise.resolve(lease(idle.pop()!.process));
      if (depth === 0 && waiting.filter((one) => one.depth === 0).length >= maxQueue) return Promise.resolve(null);
      return new Promise((resolve) => {
        const settle = (process: SandboxProcess | null) => {
          clearInterval(grow);
          clearTimeout(patience);
          signal?.removeEventListener('abort', giveUp);
          resolve(process && lease(process));
        };
        const waiter = { depth, settle };
        const giveUp = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          settle(null);
        };
        const grow = setInterval(growIfHeld, growAfterMs);
        const patience = setTimeout(giveUp, depth === 0 ? queueTimeoutMs : nestedTimeoutMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        const behind = waiting.findIndex((one) => one.depth < depth);
        waiting.splice(behind === -1 ? waiting.length : behind, 0, waiter);
      });
    },
    stats: () => ({ processes: alive.size, idle: idle.length, waiting: waiting.length }),
    warm: () => (alive.size >= min ? Promise.resolve() : new Promise((resolve) => void warmWaiters.push(resolve))),
    close() {
      isClosed = true;
      clearInterval(sweep);
      for (const { settle } of waiting.splice(0)) settle(null);
      for (const process of alive.keys()) process.kill();
    },
  };
}
