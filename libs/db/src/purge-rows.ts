import type { Queryable } from './client';
import { unprepared } from './statement';

/** Rows of one step of a purge, which is one transaction. */
const batchRows = 1_000;

/** Deletes up to a batch of what an organization has, and returns how many rows of which tables. */
export type PurgeStep = (tx: Queryable, organizationId: string) => Promise<Record<string, number>>;

/** A step for each of these tables, which carry `organization_id`; what cascades from their rows is small. */
export const purgeRows = (...tables: string[]): PurgeStep[] =>
  tables.map((table) => async (tx, organizationId) => {
    const remove = unprepared(
      'purge-rows',
      `delete from ${table} where ctid = any (array(select ctid from ${table} where organization_id = $1 limit ${batchRows}))`,
    );
    const { rowCount } = await tx.query({ organizationId }, remove, [organizationId]);
    return { [table]: rowCount };
  });

export const dbPurge = { integrations: purgeRows('integrations'), idempotency: purgeRows('idempotency_records') };
