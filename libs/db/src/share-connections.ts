import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';

const never = new AbortController().signal;

/**
 * Shares the connections of a pool among tenants, so that slow statements of one do not hold them all (docs/adr/0038).
 * Transactions are not counted, because their tenant is not known when they begin. `waitMs`: the wait for a connection.
 */
export function shareConnections({ poolSize, waitMs }: { poolSize: number; waitMs: number }) {
  const slots = createSlots({ total: poolSize });
  /** Runs `work`, which uses one connection, when the tenant with this key may have one. */
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const release = slots.tryAcquire(key);
    if (release !== null) return work().finally(release);
    return slots.acquire(key, never, waitMs).then((slot) => {
      if (slot !== null) return work().finally(slot);
      reportRefusal('database_connections');
      // The driver's words for a pool without a free connection, so that it counts as unavailable.
      throw new Error('timeout exceeded when trying to connect: the tenant has its share of the connections');
    });
  };
}
