import { type Queryable, type RowOf, column, statement } from '@parley/db';

const balance = statement(
  'credit-balance',
  'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where organization_id = $1',
  { balance: column.text },
);

const entryRow = {
  /** Negative for a refund. */
  amountCents: column.int4,
  reason: column.text,
  cause: column.text,
  createdAt: column.timestamptz,
};

const latestEntries = statement(
  'latest-credit-entries',
  `select amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
   where organization_id = $1 order by created_at desc, id desc limit $2`,
  entryRow,
);

/** The balance of an organization, which is the sum of its ledger, and the latest entries. */
export async function readCredits(
  db: Queryable,
  organizationId: string,
  limit: number,
): Promise<{ balanceCents: number; entries: RowOf<typeof entryRow>[] }> {
  const { rows: sums } = await db.query({ organizationId }, balance, [organizationId]);
  const { rows: entries } = await db.query({ organizationId }, latestEntries, [organizationId, limit]);
  return { balanceCents: Number(sums[0]!.balance), entries };
}
