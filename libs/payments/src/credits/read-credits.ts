import { type Queryable, column, statement } from '@parley/db';

export interface CreditEntry {
  /** Negative for a refund. */
  amountCents: number;
  reason: string;
  cause: string;
  createdAt: Date;
}

const balance = statement(
  'credit-balance',
  'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where organization_id = $1',
  { balance: column.text },
);

const latestEntries = statement(
  'latest-credit-entries',
  `select amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
   where organization_id = $1 order by created_at desc, id desc limit $2`,
  { amountCents: column.int4, reason: column.text, cause: column.text, createdAt: column.timestamptz },
);

/** The balance of an organization, which is the sum of its ledger, and the latest entries. */
export async function readCredits(
  db: Queryable,
  organizationId: string,
  limit: number,
): Promise<{ balanceCents: number; entries: CreditEntry[] }> {
  const { rows: sums } = await db.query({ organizationId }, balance, [organizationId]);
  const { rows: entries } = await db.query({ organizationId }, latestEntries, [organizationId, limit]);
  return { balanceCents: Number(sums[0]!.balance), entries };
}
