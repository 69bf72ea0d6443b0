import { readFileSync } from 'node:fs';
import type { Stack } from '@parley/testing';

type Service = NonNullable<Stack['services']['manage']>;

/**
 * The highest resident memory of a service since its start; its current one where the system
 * does not have it.
 */
export async function peakBytes({ pid, internalUrl }: Service): Promise<number> {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  }
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\S* (\S+)$/m.exec(metrics)?.[1]);
}
