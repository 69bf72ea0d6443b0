import type { Queryable } from './client';
import { column, unprepared } from './statement';

const batchRows = 1_000;

/**
 * Removes what is older than so many days, a batch a statement, until `signal` aborts. Returns how many rows. Ids are made
 * from the time of creation: the scan ends at the first row that is not old. `isDone`: the condition on a row `t` under which it
 * may go; `$2` is the number of days.
 */
export async function removeOldRows(
  db: Queryable,
  { table, idType, isDone }: { table: string; idType: 'text' | 'bigint'; isDone: string },
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const removeBatch = unprepared(
    'remove-old-rows',
    `with oldest as materialized (
      select id, created_at < now() - make_interval(secs => $2::float8 * 86400) as is_old
      from ${table} where id > $1::${idType} order by id limit ${batchRows}),
    removed as (delete from ${table} t using oldest o where t.id = o.id and o.is_old and ${isDone} returning 1)
    select (select max(id)::text from oldest) as last, (select count(*)::int from oldest where is_old) as old,
      (select count(*)::int from removed) as removed`,
    { last: column.text.nullable, old: column.int4, removed: column.int4 },
  );
  let removed = 0;
  for (let after = idType === 'text' ? '' : '0'; ;) {
    signal.throwIfAborted();
    const batch = (await db.acrossTenants('sweep', removeBatch, [after, days])).rows[0]!;
    removed += batch.removed;
    if (batch.old < batchRows) return removed;
    after = batch.last!;
  }
}
