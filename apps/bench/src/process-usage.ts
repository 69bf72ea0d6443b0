import { readFileSync, readdirSync } from 'node:fs';

/** What a process and its child processes hold and have used. */
export interface Usage {
  processes: number;
  /** Proportional set size in MB: pages that several processes share count in parts. */
  pssMb: number;
  /** Resident set size in MB, with shared pages. */
  rssMb: number;
  /** Processor time since the start, in seconds. */
  cpuSeconds: number;
}

/** The clock ticks of /proc/PID/stat: 100 a second on every Linux. */
const ticksPerSecond = 100;

/** Processor time of one process since its start, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/**
 * Reads the usage of a process and of all processes below it from /proc, which for another user's
 * processes needs root.
 */
export function usageOf(pid: number): Usage {
  const usage: Usage = { processes: 0, pssMb: 0, rssMb: 0, cpuSeconds: 0 };
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      const memory = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8');
      const megabytes = (name: string) =>
        Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(memory)?.[1] ?? 0) / 1024;
      usage.cpuSeconds += cpuSecondsOf(one);
      usage.pssMb += megabytes('Pss');
      usage.rssMb += megabytes('Rss');
      usage.processes += 1;
    } catch (error) {
      // A process below it may end at any time.
      if (one === pid || !/ENOENT|ESRCH/.test(String(error))) throw error;
    }
  }
  return usage;
}

/**
 * Processor time in microseconds since the start, by process: of these processes, and of
 * PostgreSQL, which is the parent of one of its backends and all other children of that.
 */
export function processorTimes({
  pids,
  siblingsOf,
}: {
  pids: readonly number[];
  siblingsOf: number;
}): Map<number, number> {
  const postmaster = Number(fieldsOf(siblingsOf)[1]);
  const times = new Map<number, number>();
  for (const pid of [...pids, postmaster, ...descendantsOf(postmaster)]) {
    try {
      const tasks = readdirSync(`/proc/${pid}/task`);
      const onCpuNs = tasks.map((task) =>
        Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      );
      times.set(
        pid,
        onCpuNs.reduce((sum, ns) => sum + ns / 1_000, 0),
      );
    } catch {
      // A process or a thread may end at any time.
    }
  }
  return times;
}

/** What each process that still runs has used between two readings. */
export const spentSince = (
  before: Map<number, number>,
  after: Map<number, number>,
): Map<number, number> =>
  new Map([...after].map(([pid, time]) => [pid, time - (before.get(pid) ?? 0)]));

/**
 * The fields of /proc/PID/stat after the name of the program, which may contain spaces:
 * state, parent, …
 */
const fieldsOf = (pid: number | string): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');

function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = Number(fieldsOf(entry)[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // The process has ended since the folder was read.
    }
  }
  const below = (parent: number): number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}
