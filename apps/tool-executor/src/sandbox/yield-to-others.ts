import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const everyMs = 50;
/** Of the last 50 ms; a run that computed this much has been computing without a pause. */
const busyMs = 40;
/** Ticks of /proc, whose length Linux has fixed for programs. */
const tickMs = 10;
const low = 15;
/** Busy looks in a row before it yields. Only root can give precedence back; else its process is lost afterwards. */
const looks = { asRoot: 1, asOther: 10 };

/**
 * Takes precedence away from a run that does nothing but compute, so that short calls beside it are not slowed by it.
 * The returned function ends the watch and says whether the process is as before. Does nothing where there is no /proc.
 */
export function yieldToOthers(pid: number): () => boolean {
  let lastMs: number | null = null;
  let isLow = false;
  let busy = 0;
  const patience = process.getuid?.() === 0 ? looks.asRoot : looks.asOther;
  const watch = setInterval(() => {
    const nowMs = computedMs(pid);
    busy = nowMs !== null && lastMs !== null && nowMs - lastMs >= busyMs ? busy + 1 : 0;
    if (busy >= patience) isLow = prioritize(pid, low);
    lastMs = nowMs;
    if (isLow || nowMs === null) clearInterval(watch);
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

function prioritize(pid: number, priority: number): boolean {
  try {
    setPriority(pid, priority);
    return true;
  } catch {
    return false;
  }
}
