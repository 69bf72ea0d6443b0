import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a process may allocate beyond what it has after loading: the engine's memory and room for V8's own. */
const growthBytes = 256 * 1024 * 1024;

/** Limits that the kernel now keeps on a sandbox process, or null where this machine has no way to put them on. */
export type ProcessLimits = { [resource: string]: number } | null;

/**
 * Takes from a loaded process what it needs no more, by the kernel's hand: no descriptor can be opened (so no file and
 * no socket), no thread or process started, no file written, and memory is bounded. Limits only ever go down, so the
 * process cannot undo this. Needs Linux and `prlimit` (util-linux).
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
