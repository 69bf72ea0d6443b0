import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const checkIntervalMs = 50;
/**
 * Processor time, from the first check on, after which a run gets a lower priority. Only root
 * can raise it again. For other users the process must be replaced after the run, so the
 * limit is higher.
 */
const loweredAfterMs = { asRoot: 50, asOther: 500 };
/** Length of a tick in /proc, which is constant on Linux. */
const tickMs = 10;
/** Nice values: higher means a lower priority. */
const low = 15;
const lowest = 19;
/**
 * About a third of the processor share of other processes, so that the process is still ready soon
 * on a busy machine.
 */
const lowWhileStarting = 5;

/**
 * Lowers the priority of a run that computes for long, so that it does not slow other calls. The
 * returned function ends the check, restores the priority and returns whether the process now has
 * it. Without /proc nothing is lowered.
 */
export function lowerPriorityWhenBusy(pid: number): () => boolean {
  const limitMs = process.getuid?.() === 0 ? loweredAfterMs.asRoot : loweredAfterMs.asOther;
  let startMs: number | null = null;
  let isLow = false;
  const check = setInterval(() => {
    const nowMs = computedMs(pid);
    startMs ??= nowMs;
    if (nowMs === null || startMs === null) return clearInterval(check);
    if (nowMs - startMs < limitMs) return;
    clearInterval(check);
    isLow = prioritize(pid, low);
  }, checkIntervalMs);
  return () => {
    clearInterval(check);
    return !isLow || prioritize(pid, 0);
  };
}

/** Processor time that a process has used; null when it cannot be read. */
function computedMs(pid: number): number | null {
  try {
    // Fields 14 and 15 of the line. The name in field 2 may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}

/**
 * Lowers the priority of a process while it starts, so that loading the engine does not slow
 * calls. The returned function restores it. Only root can restore a priority, so for other users
 * this does nothing.
 */
export function lowerPriorityWhileStarting(pid: number): () => void {
  const isLow = process.getuid?.() === 0 && prioritize(pid, lowWhileStarting);
  return () => void (isLow && prioritize(pid, 0));
}

/** `below` is relative to the service, whose nice value need not be 0. */
function prioritize(pid: number, below: number): boolean {
  try {
    setPriority(pid, Math.min(lowest, getPriority() + below));
    return true;
  } catch {
    return false;
  }
}
