import { reportRefusal } from '@parley/contracts';
import { type Slots, createSlots } from '@parley/outbound';

interface ShareOptions {
  poolSize: number;
  /** Maximum wait for a connection. */
  waitMs: number;
  /**
   * Maximum wait of long work for a connection, with the wait for other long work of the tenant.
   */
  longWaitMs: number;
}

const never = new AbortController().signal;

/**
 * Shares the connections of a pool among tenants, so that slow statements of one do not hold
 * them all (docs/adr/0038). Long work, which may keep a CPU of the database server busy, has
 * a smaller share.
 */
export function shareConnections({ poolSize, waitMs, longWaitMs }: ShareOptions) {
  const all = createSlots({ total: poolSize });
  const long = createSlots({
    total: Math.ceil(0.6 * poolSize),
    perKey: Math.max(2, Math.floor(poolSize / 5)),
  });
  const waitFor = async (slots: Slots, key: string, limitMs: number): Promise<() => void> => {
    const release = await slots.acquire(key, never, limitMs);
    if (release !== null) return release;
    reportRefusal('database_connections');
    // The driver's words for a pool without a free connection, so that it counts as unavailable.
    throw new Error(
      'timeout exceeded when trying to connect: the tenant already uses its share of the connections',
    );
  };
  return {
    /**
     * The function that gives back a place, or null when the tenant with this key has its share.
     */
    tryTake: (key: string): (() => void) | null => all.tryAcquire(key),
    /**
     * Waits until the tenant may use a connection. Resolves with the function that
     * gives its place back.
     */
    async take(key: string, { isLong = false } = {}): Promise<() => void> {
      if (!isLong) return waitFor(all, key, waitMs);
      const endMs = performance.now() + longWaitMs;
      const endLong = await waitFor(long, key, longWaitMs);
      try {
        const release = await waitFor(all, key, Math.max(0, endMs - performance.now()));
        return () => {
          release();
          endLong();
        };
      } catch (error) {
        endLong();
        throw error;
      }
    },
  };
}
