import { executorLimits } from '@parley/contracts';
import type { PoolOptions } from './sandbox/pool';

/** With three processes for parsing, one is always left for an organization that waits for none. */
export const maxCompilers = 3;

/** What each level of nesting has in addition to `maxProcesses`: an eighth of it. */
export const levelsOf = (maxProcesses: number): NonNullable<PoolOptions['levels']> => ({
  count: executorLimits.maxCallbackDepth,
  processes: Math.ceil(maxProcesses / 8),
});

const mebibyte = 1024 * 1024;
/** The service itself, and the processes for parsing. */
const baseBytes = (128 + maxCompilers * 48) * mebibyte;
/**
 * A process whose handler uses its 64 MiB, its own memory, and what the service holds for its
 * requests and answers.
 */
const processBytes = 144 * mebibyte;

/**
 * Memory that the executor needs at most when `maxProcesses` and the processes for nested
 * calls are all in use.
 */
export function neededBytes(maxProcesses: number): number {
  const { count, processes } = levelsOf(maxProcesses);
  return baseBytes + (maxProcesses + count * processes) * processBytes;
}

/**
 * The largest number of processes up to `maxProcesses` that fits the memory, at least 1, which may
 * fit only without nested calls. Throws when it does not fit either.
 */
export function fitProcesses(maxProcesses: number, memoryBytes: number): number {
  let fitting = maxProcesses;
  while (fitting > 1 && neededBytes(fitting) > memoryBytes) fitting--;
  const [leastMiB, givenMiB] = [baseBytes + processBytes, memoryBytes].map((bytes) =>
    Math.floor(bytes / mebibyte),
  );
  if (givenMiB! >= leastMiB!) return fitting;
  throw new Error(
    `The tool executor needs ${leastMiB} MiB of memory for one sandbox process, and has ${givenMiB} MiB`,
  );
}
