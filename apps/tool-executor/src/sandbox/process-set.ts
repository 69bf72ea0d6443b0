import type { SandboxProcess } from './start-process';

export interface ProcessSetOptions {
  /** `isUrgent`: no other process is free. */
  start: (isUrgent: boolean) => Promise<SandboxProcess>;
  /** Number of processes that are kept warm. */
  min: number;
  /** How long a process beyond `min` stays without work. */
  idleMs?: number;
  onStartFailure: (error: unknown) => void;
}

/** Processes that start at the same time. Starting all together would only delay the first one. */
const maxStarting = 2;
/**
 * A call that runs longer counts as holding its process: it waits for other servers, or uses all
 * the processor time.
 */
const heldAfterMs = 50;
/**
 * With this many processes serving short calls, calls wait for the processor, and another process
 * would only share it.
 */
const minShortCalls = 2;
const restartDelayMs = 500;
const sweepMs = 5_000;

/**
 * Starts processes, keeps `min` of them and ends idle ones beyond. `onChange` is called when a
 * process is free or has ended.
 */
export function createProcessSet(
  { start, min, idleMs = 30_000, onStartFailure }: ProcessSetOptions,
  onChange: () => void,
) {
  const idle: { process: SandboxProcess; since: number }[] = [];
  /** Each process with the time at which it was last acquired. */
  const alive = new Map<SandboxProcess, number>();
  let warmWaiters: (() => void)[] = [];
  let starting = 0;
  let isStopped = false;

  const count = (): number => alive.size + starting;

  function offer(process: SandboxProcess): void {
    idle.push({ process, since: performance.now() });
    onChange();
  }

  async function add(most: number): Promise<void> {
    if (isStopped || count() >= most) return;
    starting++;
    try {
      const process = await start(idle.length === 0);
      starting--;
      if (isStopped) return process.kill();
      alive.set(process, performance.now());
      process.onExit(() => {
        alive.delete(process);
        const at = idle.findIndex((one) => one.process === process);
        if (at !== -1) idle.splice(at, 1);
        onChange();
        refill();
      });
      offer(process);
      refill();
      if (alive.size >= min) {
        for (const resolve of warmWaiters) resolve();
        warmWaiters = [];
      }
    } catch (error) {
      starting--;
      onStartFailure(error);
      // This timer keeps the service alive: at its start nothing else does, and it would end
      // instead of retrying.
      setTimeout(refill, restartDelayMs);
    }
  }

  function refill(): void {
    while (!isStopped && count() < min && starting < maxStarting) void add(min);
  }

  const sweep = setInterval(() => {
    const before = performance.now() - idleMs;
    while (alive.size > min && idle.length > 0 && idle[0]!.since < before)
      idle.shift()!.process.kill();
  }, sweepMs);
  sweep.unref();
  refill();

  return {
    idle,
    alive,
    offer,
    growIfHeld(most: number): void {
      const before = performance.now() - heldAfterMs;
      const isIdle = new Set(idle.map(({ process }) => process));
      const short = [...alive].filter(
        ([process, acquiredAt]) => acquiredAt >= before && !isIdle.has(process),
      ).length;
      if (starting === 0 && short < minShortCalls) void add(most);
    },
    /** Resolves once `min` processes are warm. */
    warm: (): Promise<void> =>
      alive.size >= min
        ? Promise.resolve()
        : new Promise((resolve) => void warmWaiters.push(resolve)),
    stop(): void {
      isStopped = true;
      clearInterval(sweep);
    },
  };
}
