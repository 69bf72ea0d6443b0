import type { Queryable } from '@parley/db';

export interface CreditEntry {
  /** Negative for a refund. */
  amountCents: number;
  reason: string;
  cause: string;
  createdAt: Date;
}

/** The balance of an organization, which is the sum of its ledger, and the latest entries. */
export async function readCredits(
  db: Queryable,
  organizationId: string,
  limit: number,
): Promise<{ balanceCents: number; entries: CreditEntry[] }> {
  const { rows: sums } = await db.raw<{ balance: string }>(
    'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where organization_id = $1',
    [organizationId],
  );
  const { rows: entries } = await db.raw<CreditEntry>(
    `select amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
     where organization_id = $1 order by created_at desc, id desc limit $2`,
    [organizationId, limit],
  );
  return { balanceCents: Number(sums[0]!.balance), entries };
}
