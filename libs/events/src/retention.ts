import { type Queryable, heldUntil, purgeRows, removeOldRows } from '@parley/db';

/** The steps of a purge that delete the events of a tenant. */
export const eventsPurge = purgeRows(['events'], 'id', 'order by id');

/**
 * Deletes relayed, not held events that are older than `days` and for which `isUnneeded`, a
 * condition on the row `t`, holds.
 */
export const removeOldEvents = (
  db: Queryable,
  isUnneeded: string,
  days: number,
  signal: AbortSignal,
): Promise<number> =>
  removeOldRows(
    db,
    { table: 'events', idType: 'bigint', isDone: `t.relayed_at <> ${heldUntil} and ${isUnneeded}` },
    days,
    signal,
  );
