import type { ChildProcess, StdioOptions } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { spawnGuarded } from './child-process';

/**
 * Maximum size of half of V8's young generation, in MB (docs/adr/0076). The images have the same,
 * and the same settings of glibc's allocator (docker/Dockerfile); a test compares them.
 */
const semiSpaceMb = 16;
export const allocatorEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * Maximum size of V8's old generation, in MB: half of the memory limit of the container and at
 * least 256, as V8 derives it there. On a machine without a limit V8 would take up to 4 GB, and
 * collect garbage accordingly late.
 */
const oldSpaceMb: Record<string, number> = { chat: 768, worker: 384 };
const defaultOldSpaceMb = 256;

export interface SpawnServiceOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  stdio?: StdioOptions;
  /** Flags of Node in addition to the usual ones. */
  flags?: string[];
}

/** The flags of Node that limit the heap of a service. */
export const heapFlagsOf = (service: string): string[] => [
  `--max-semi-space-size=${semiSpaceMb}`,
  `--max-old-space-size=${oldSpaceMb[service] ?? defaultOldSpaceMb}`,
];

/**
 * Starts the bundle `<service>/main.cjs` with the memory settings of a deployment. It ends when
 * this process ends.
 */
export function spawnService(
  bundle: string,
  { env, flags = [], ...options }: SpawnServiceOptions,
): ChildProcess {
  const heap = heapFlagsOf(basename(dirname(bundle)));
  // A source map takes 4 MB and a seventh of the time of a start. Images have none.
  const sourceMaps = env.NODE_ENV === 'development' ? ['--enable-source-maps'] : [];
  return spawnGuarded(process.execPath, [...flags, ...sourceMaps, ...heap, bundle], {
    ...options,
    env: { ...allocatorEnvironment, ...env },
  });
}
