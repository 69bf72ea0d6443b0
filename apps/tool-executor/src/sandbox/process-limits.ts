import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Memory that a process may allocate in addition after loading: 64 MiB for the engine, twice while
 * it is replaced, and for V8.
 */
const growthBytes = 192 * 1024 * 1024;

/** The kernel's limits on a sandbox process; null where they cannot be set. */
export type ProcessLimits = { [resource: string]: number } | null;

/**
 * Sets the kernel's limits on a loaded process: it can open no descriptor (so no file or socket),
 * start no thread or process, write no file, and its memory is limited. The process cannot raise
 * the limits again. Requires Linux and `prlimit` (util-linux).
 */
export async function limitProcess(pid: number): Promise<ProcessLimits> {
  if (process.platform !== 'linux') return null;
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const dataBytes = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024 + growthBytes;
    const limits = { nofile: 0, nproc: 0, fsize: 0, core: 0, data: dataBytes };
    const flags = Object.entries(limits).map(([name, value]) => `--${name}=${value}:${value}`);
    await run('prlimit', ['--pid', String(pid), ...flags], { timeout: 5000 });
    return limits;
  } catch {
    return null;
  }
}
