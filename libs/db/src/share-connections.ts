import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';

const never = new AbortController().signal;

/**
 * Shares the connections of a pool among tenants, so that slow statements of one do not hold them all (docs/adr/0038).
 * `waitMs`: the wait for a connection.
 */
export function shareConnections({ poolSize, waitMs }: { poolSize: number; waitMs: number }) {
  const slots = createSlots({ total: poolSize });
  return {
    /** The function that gives back a place, or null when the tenant with this key has its share. */
    tryTake: (key: string): (() => void) | null => slots.tryAcquire(key),
    /** Waits until the tenant may use a connection. Resolves with the function that gives its place back. */
    async take(key: string): Promise<() => void> {
      const release = await slots.acquire(key, never, waitMs);
      if (release !== null) return release;
      reportRefusal('database_connections');
      // The driver's words for a pool without a free connection, so that it counts as unavailable.
      throw new Error('timeout exceeded when trying to connect: the tenant has its share of the connections');
    },
  };
}
