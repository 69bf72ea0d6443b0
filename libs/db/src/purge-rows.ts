import type { Queryable, Tenant } from './client';
import { unprepared } from './statement';

/** Maximum number of rows deleted by one step, which is one transaction. */
const batchRows = 1_000;

/** Deletes at most one batch of a tenant's rows. Returns the number of deleted rows by table. */
export type PurgeStep = (tx: Queryable, tenant: Tenant) => Promise<Record<string, number>>;

/**
 * Returns one purge step for each table. Few rows may cascade from a row of these tables. `key`: a
 * column whose values few rows of a tenant share. `order`: the order of an index that begins with
 * the tenant, for tables of which one tenant can have most rows.
 */
export const purgeRows = (tables: readonly string[], key = 'id', order = ''): PurgeStep[] =>
  tables.map((table) => async (tx, tenant) => {
    const remove = unprepared(
      'purge-rows',
      `delete from ${table} where tenant = $tenant
       and ${key} = any (array(select ${key} from ${table} where tenant = $tenant ${order} limit ${batchRows}))`,
    );
    const { rowCount } = await tx.query(tenant, remove);
    return { [table]: rowCount };
  });

export const dbPurge = {
  integrations: purgeRows(['integrations']),
  idempotency: purgeRows(['idempotency_records']),
};
