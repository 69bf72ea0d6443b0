import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import type { Queryable } from './client';

const never = new AbortController().signal;

/**
 * Shares the connections of a pool among tenants, so that slow statements of one do not hold them all (docs/adr/0038).
 * Transactions are not counted, because their tenant is not known when they begin. `waitMs`: the wait for a connection.
 */
export function shareConnections(on: Queryable, { poolSize, waitMs }: { poolSize: number; waitMs: number }): Queryable {
  const slots = createSlots({ total: poolSize });
  return {
    ...on,
    query(subject, statement, values) {
      const key = 'tenant' in subject ? String(subject.tenant) : subject.organizationId;
      const release = slots.tryAcquire(key);
      if (release !== null) return on.query(subject, statement, values).finally(release);
      return slots.acquire(key, never, waitMs).then((slot) => {
        if (slot !== null) return on.query(subject, statement, values).finally(slot);
        reportRefusal('database_connections');
        // The driver's words for a pool without a free connection, so that it counts as unavailable.
        throw new Error('timeout exceeded when trying to connect: the tenant has its share of the connections');
      });
    },
  };
}
