import { type Queryable, type RowOf, type Tenant, column, statement } from '@parley/db';

const balance = statement(
  'credit-balance',
  'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where tenant = $1',
  { balance: column.text },
);

const entryRow = {
  /** Negative for refunds. */
  amountCents: column.int4,
  reason: column.text,
  cause: column.text,
  createdAt: column.timestamptz,
};

const latestEntries = statement(
  'latest-credit-entries',
  `select amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
   where tenant = $1 order by created_at desc, id desc limit $2`,
  entryRow,
);

/** Reads the balance of an organization, which is the sum of its entries, and the latest entries. */
export async function readCredits(
  db: Queryable,
  organization: Tenant,
  limit: number,
): Promise<{ balanceCents: number; entries: RowOf<typeof entryRow>[] }> {
  const { rows: sums } = await db.query(organization, balance, [organization.tenant]);
  const { rows: entries } = await db.query(organization, latestEntries, [organization.tenant, limit]);
  return { balanceCents: Number(sums[0]!.balance), entries };
}
