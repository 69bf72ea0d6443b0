import type { Queryable, Tenant } from './client';
import { type Statement, type Values, column, statement, unprepared } from './statement';

/** Maximum number of rows that one statement deletes. Each is a transaction of its own. */
export const removedRows = 1_000;

const allTenants = statement('all-tenants', 'select no as tenant from organizations order by no', {
  tenant: column.int4,
});

/** All organizations, for jobs that work through them one after the other. */
export const tenantsOf = async (db: Pick<Queryable, 'acrossTenants'>): Promise<Tenant[]> =>
  (await db.acrossTenants('sweep', allTenants)).rows;

/**
 * Deletes rows that are older than `days`, in batches of one tenant and in turns, so that a
 * tenant with many rows does not delay the others, until `signal` aborts. Returns the number of
 * deleted rows. Ids are derived from the creation time, so the scan of a tenant ends at the
 * first newer row. `isDone`: a condition on a row `t` that must hold for its deletion; `$days`
 * is the given number.
 */
export async function removeOldRows(
  db: Queryable,
  { table, idType, isDone }: { table: string; idType: 'text' | 'bigint'; isDone: string },
  days: number,
  signal: AbortSignal,
): Promise<number> {
  // An array, because a join could read all rows of the tenant. The range of ids selects the
  // partitions of a table that is partitioned by id (docs/scaling.md). A parameter as limit:
  // see docs/adr/0081.
  const removeBatch = unprepared(
    'remove-old-rows',
    `with oldest as materialized (
      select id, created_at < now() - make_interval(secs => $days::float8 * 86400) as is_old
      from ${table} where tenant = $tenant and id > $after::${idType} order by ${table}.id limit $limit),
    removed as (
      delete from ${table} t where t.tenant = $tenant and t.id = any (array(select id from oldest where is_old))
        and t.id > $after::${idType} and t.id <= (select max(id) from oldest) and ${isDone} returning 1)
    select (select max(id)::text from oldest) as last, (select count(*)::int from oldest where is_old) as old,
      (select count(*)::int from removed) as removed`,
    { last: column.text.nullable, old: column.int4, removed: column.int4 },
  );
  let removed = 0;
  let waiting = (await tenantsOf(db)).map((tenant) => ({
    tenant,
    after: idType === 'text' ? '' : '0',
  }));
  while (waiting.length > 0) {
    const unfinished: typeof waiting = [];
    for (const { tenant, after } of waiting) {
      signal.throwIfAborted();
      const batch = (await db.query(tenant, removeBatch, { after, days, limit: removedRows }))
        .rows[0]!;
      removed += batch.removed;
      if (batch.old === removedRows) unfinished.push({ tenant, after: batch.last! });
    }
    waiting = unfinished;
  }
  return removed;
}

/**
 * Repeats a statement that deletes at most `removedRows` rows of all tenants. Returns the number
 * of deleted rows.
 */
export async function removeInBatches(
  db: Queryable,
  remove: Statement,
  values: Values = {},
): Promise<number> {
  let removed = 0;
  for (;;) {
    const { rowCount } = await db.acrossTenants('sweep', remove, values);
    removed += rowCount;
    if (rowCount < removedRows) return removed;
  }
}
