import type { Queryable, Tenant } from './client';
import { column, statement, unprepared } from './statement';

const batchRows = 1_000;

const allTenants = statement('all-tenants', 'select no as tenant from organizations order by no', {
  tenant: column.int4,
});

/** All organizations, for jobs that work through them one after the other. */
export const tenantsOf = async (db: Pick<Queryable, 'acrossTenants'>): Promise<Tenant[]> =>
  (await db.acrossTenants('sweep', allTenants)).rows;

/**
 * Deletes rows that are older than `days`, tenant by tenant and in batches, until `signal` aborts. Returns the number of
 * deleted rows. Ids are derived from the creation time, so the scan of a tenant ends at the first newer row. `isDone`: a
 * condition on a row `t` that must hold for its deletion; `$3` is the number of days.
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
      select id, created_at < now() - make_interval(secs => $3::float8 * 86400) as is_old
      from ${table} where tenant = $1 and id > $2::${idType} order by id limit ${batchRows}),
    removed as (
      delete from ${table} t using oldest o where t.tenant = $1 and t.id = o.id and o.is_old and ${isDone} returning 1)
    select (select max(id)::text from oldest) as last, (select count(*)::int from oldest where is_old) as old,
      (select count(*)::int from removed) as removed`,
    { last: column.text.nullable, old: column.int4, removed: column.int4 },
  );
  let removed = 0;
  for (const tenant of await tenantsOf(db)) {
    for (let after: string | null = idType === 'text' ? '' : '0'; after !== null;) {
      signal.throwIfAborted();
      const batch: { last: string | null; old: number; removed: number } = (
        await db.query(tenant, removeBatch, [tenant.tenant, after, days])
      ).rows[0]!;
      removed += batch.removed;
      after = batch.old === batchRows ? batch.last : null;
    }
  }
  return removed;
}
