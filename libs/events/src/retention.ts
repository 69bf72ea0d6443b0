import { type Queryable, purgeRows, removeOldRows } from '@parley/db';

/** What a purge deletes. */
export const eventsPurge = purgeRows(['events'], 'id', 'order by id');

/** Removes relayed events that are older than so many days and that nobody needs: `isUnneeded` is a condition on the row `t`. */
export const removeOldEvents = (
  db: Queryable,
  isUnneeded: string,
  days: number,
  signal: AbortSignal,
): Promise<number> =>
  removeOldRows(
    db,
    { table: 'events', idType: 'bigint', isDone: `t.relayed_at is not null and ${isUnneeded}` },
    days,
    signal,
  );
