import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const everyMs = 50;
/**
 * Processor time after which a run yields, from the first look on. Only root can give precedence back; elsewhere the
 * process is lost afterwards, which must be worth it.
 */
const yieldsAfterMs = { asRoot: 50, asOther: 500 };
/** Ticks of /proc, whose length Linux has fixed for programs. */
const tickMs = 10;
const low = 15;
const lowest = 19;
/** A third of the share of others: enough to be ready soon on a machine that has much to do. */
const lowWhileStarting = 5;

/**
 * Takes precedence away from a run that computes for long, so that short calls beside it are not slowed by it. The
 * returned function ends the watch and says whether the process is as before. Does nothing where there is no /proc.
 */
export function yieldToOthers(pid: number): () => boolean {
  const limitMs = process.getuid?.() === 0 ? yieldsAfterMs.asRoot : yieldsAfterMs.asOther;
  let firstMs: number | null = null;
  let isLow = false;
  const watch = setInterval(() => {
    const nowMs = computedMs(pid);
    firstMs ??= nowMs;
    if (nowMs === null || firstMs === null) return clearInterval(watch);
    if (nowMs - firstMs < limitMs) return;
    clearInterval(watch);
    isLow = prioritize(pid, low);
  }, everyMs);
  return () => {
    clearInterval(watch);
    return !isLow || prioritize(pid, 0);
  };
}

/** Processor time that a process has used. */
function computedMs(pid: number): number | null {
  try {
    // Fields 14 and 15 of the line; the name in field 2 may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}

/**
 * Takes precedence from a process that is being started: to take the place of one that was killed is not urgent, and
 * loading the engine must not slow calls. The returned function gives it back. Only root can, so nobody else begins.
 */
export function yieldWhileStarting(pid: number): () => void {
  const isLow = process.getuid?.() === 0 && prioritize(pid, lowWhileStarting);
  return () => void (isLow && prioritize(pid, 0));
}

/** `below` the service itself, which need not run at 0. */
function prioritize(pid: number, below: number): boolean {
  try {
    setPriority(pid, Math.min(lowest, getPriority() + below));
    return true;
  } catch {
    return false;
  }
}
