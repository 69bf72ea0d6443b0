import { type Slots, createSlots } from '@parley/outbound';
import { type ProcessSetOptions, createProcessSet } from './process-set';
import type { SandboxProcess } from './start-process';

export interface PoolOptions extends ProcessSetOptions {
  /** Maximum under load, shared by the organizations. */
  max: number;
  /**
   * How deep calls are nested at most, and the processes in addition to `max` that each level has.
   */
  levels?: { count: number; processes: number };
  /** Calls from outside that may wait, shared by the organizations; further ones are refused. */
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

/**
 * Why a call got no process: `busy`: none was free. `share`: the calls of the same organization
 * hold or await too many.
 */
export type RefusedCall = 'busy' | 'share';

interface AcquireOptions {
  /** The organization whose share the call counts towards. Calls without one share a key. */
  key?: string;
  /** How many calls hold a process of this pool while they wait for this one. */
  depth?: number;
  /** Aborted when the process is no longer needed. */
  signal?: AbortSignal;
}

export type Pool = ReturnType<typeof createPool>;

/** How often it is checked, while calls wait, whether another process would help. */
const growAfterMs = 25;
const never = new AbortController().signal;
/** Limit of a nested call's wait, for a caller that never aborts its signal. */
const nestedTimeoutMs = 60_000;

/**
 * Processes that serve one call at a time. When long calls hold nearly all of them, a waiting call
 * makes the pool grow. Idle processes beyond `min` are ended.
 *
 * The processes that run are slots, of which each organization has a share (libs/outbound
 * createSlots): a new process would take too long to start for an organization that finds all held
 * by another. Calls from outside wait in a queue that is limited in length, again with a share for
 * each organization, and in time. Nested calls must always get a process, or all would wait for
 * each other. So each level has processes of its own in addition, and its calls take one when none
 * of their share is free: the deepest calls wait for no other, and their end lets the level above
 * continue. They wait as long as their caller does. Their number is limited by the limit on the
 * requests of a run.
 */
export function createPool(options: PoolOptions) {
  const { max, levels = { count: 0, processes: 0 }, maxQueue, queueTimeoutMs } = options;
  const { idle, alive, ...processes } = createProcessSet(options, update);
  const shared = createSlots({ total: 0 });
  const queue = createSlots({ total: maxQueue });
  const ofLevels = Array.from({ length: levels.count }, () =>
    createSlots({ total: levels.processes }),
  );
  /** Calls with a slot of a level that wait for its process. */
  const waiting = new Set<(process: SandboxProcess | null) => void>();
  let isClosed = false;
  /** Calls that have a slot of a level. */
  let inLevels = 0;
  let waiters = 0;
  /** Runs while calls wait. */
  let growing: NodeJS.Timeout | undefined;

  const sharedTotal = (): number => Math.min(max, alive.size - inLevels);

  /** A free process is first for the calls of levels. */
  function update(): void {
    while (idle.length > 0 && waiting.size > 0) {
      const [first] = waiting;
      first!(idle.pop()!.process);
    }
    shared.resize(sharedTotal());
  }

  function toAcquired(process: SandboxProcess, leave: () => void): AcquiredProcess {
    process.listen(null);
    alive.set(process, performance.now());
    return {
      process,
      release: () => {
        process.listen(null);
        if (alive.has(process)) processes.offer(process);
        leave();
      },
      discard: () => {
        process.listen(null);
        process.kill();
        // Not only when it has ended: until then a call would be given a process that is not there.
        alive.delete(process);
        update();
        leave();
      },
    };
  }

  async function enterFromOutside(
    key: string,
    signal: AbortSignal,
  ): Promise<(() => void) | RefusedCall> {
    const place = queue.tryAcquire(key);
    const leave = place && (await shared.acquire(key, signal, queueTimeoutMs));
    place?.();
    if (leave !== null) return leave;
    // What is free is for other organizations.
    const isFree =
      shared.stats().running < sharedTotal() ||
      (place === null && queue.stats().running < maxQueue);
    return isFree ? 'share' : 'busy';
  }

  function countLevel(leave: (() => void) | null): (() => void) | null {
    if (leave === null) return null;
    const count = (change: number) => {
      inLevels += change;
      update();
    };
    count(1);
    return () => {
      leave();
      count(-1);
    };
  }

  /** Takes whichever slot is free first, of the organization's share or of the level. */
  async function enterNested(
    key: string,
    level: Slots,
    signal: AbortSignal,
  ): Promise<(() => void) | RefusedCall> {
    const chosen = new AbortController();
    const either = AbortSignal.any([signal, chosen.signal]);
    const offers = [
      shared.acquire(key, either, nestedTimeoutMs),
      level.acquire(key, either, nestedTimeoutMs).then(countLevel),
    ];
    const first = await Promise.race(offers);
    chosen.abort();
    for (const offer of offers) void offer.then((leave) => leave !== first && leave?.());
    return first ?? 'busy';
  }

  /**
   * Waits for a process. It is marked as used as soon as there is one, before the
   * next call is served.
   */
  const nextProcess = (
    leave: () => void,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<AcquiredProcess | RefusedCall> =>
    new Promise((resolve) => {
      const settle = (process: SandboxProcess | null) => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', giveUp);
        waiting.delete(settle);
        if (process === null) leave();
        resolve(process === null ? 'busy' : toAcquired(process, leave));
      };
      const giveUp = () => settle(null);
      const timeout = setTimeout(giveUp, timeoutMs);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(settle);
      if (signal.aborted) giveUp();
    });

  async function waitForProcess(
    free: (() => void) | null,
    { key = '', depth = 0, signal = never }: AcquireOptions,
  ): Promise<AcquiredProcess | RefusedCall> {
    const level = ofLevels[Math.min(depth, ofLevels.length) - 1];
    const endsAt = performance.now() + (level === undefined ? queueTimeoutMs : nestedTimeoutMs);
    const entered =
      free ??
      (await (level === undefined
        ? enterFromOutside(key, signal)
        : enterNested(key, level, signal)));
    if (typeof entered === 'string') return entered;
    if (isClosed) {
      entered();
      return 'busy';
    }
    const ready = idle.pop();
    return ready
      ? toAcquired(ready.process, entered)
      : nextProcess(entered, signal, Math.max(1, endsAt - performance.now()));
  }

  return {
    /**
     * Resolves with the reason when the queue is full, the wait was too long or the
     * signal was aborted.
     */
    async acquire(options: AcquireOptions = {}): Promise<AcquiredProcess | RefusedCall> {
      if (isClosed || options.signal?.aborted) return 'busy';
      const free = shared.tryAcquire(options.key ?? '');
      // The process used last is the warmest; the others can become idle for long
      // enough to be ended.
      if (free !== null && idle.length > 0) return toAcquired(idle.pop()!.process, free);
      growing ??= setInterval(() => processes.growIfHeld(max + inLevels), growAfterMs);
      waiters++;
      const acquired = await waitForProcess(free, options);
      if (--waiters === 0) {
        clearInterval(growing);
        growing = undefined;
      }
      return acquired;
    },
    stats: () => ({
      processes: alive.size,
      idle: idle.length,
      waiting: waiting.size + shared.stats().waiting,
    }),
    warm: processes.warm,
    close(): void {
      isClosed = true;
      processes.stop();
      for (const settle of waiting) settle(null);
      for (const process of alive.keys()) process.kill();
    },
  };
}
