import type { Queryable, Tenant } from './client';
import { unprepared } from './statement';

/** Rows of one step of a purge, which is one transaction. */
const batchRows = 1_000;

/** Deletes up to a batch of what a tenant has, and returns how many rows of which tables. */
export type PurgeStep = (tx: Queryable, tenant: Tenant) => Promise<Record<string, number>>;

/**
 * A step for each of these tables; what cascades from their rows is small. `key`: a column that few rows of a tenant share.
 * `order`: that of an index that begins with the tenant, for tables of which any tenant is expected to have most rows.
 */
export const purgeRows = (tables: readonly string[], key = 'id', order = ''): PurgeStep[] =>
  tables.map((table) => async (tx, tenant) => {
    const remove = unprepared(
      'purge-rows',
      `delete from ${table} where tenant = $1
       and ${key} = any (array(select ${key} from ${table} where tenant = $1 ${order} limit ${batchRows}))`,
    );
    const { rowCount } = await tx.query(tenant, remove, [tenant.tenant]);
    return { [table]: rowCount };
  });

export const dbPurge = { integrations: purgeRows(['integrations']), idempotency: purgeRows(['idempotency_records']) };
