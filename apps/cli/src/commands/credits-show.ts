import { withDatabase } from '../database';
import { findOrganization } from '../organizations';
import { parseLimit } from '../page';
import { formatTable, formatTime, print, printJson } from '../terminal';

interface Entry {
  amountCents: number;
  reason: string;
  cause: string;
  createdAt: Date;
}

/** `parley credits show`: the balance is the sum of the ledger. */
export async function runCreditsShow(options: { org?: string; limit?: string; json?: boolean }): Promise<void> {
  const limit = parseLimit(options.limit, 20);
  const { slug, balance, entries } = await withDatabase(async ({ pool }) => {
    const organization = await findOrganization(pool, options.org);
    const { rows: sums } = await pool.query<{ balance: string }>(
      'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where organization_id = $1',
      [organization.id],
    );
    const { rows } = await pool.query<Entry>(
      `select amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
       where organization_id = $1 order by created_at desc, id desc limit $2`,
      [organization.id, limit],
    );
    return { slug: organization.slug, balance: Number(sums[0]!.balance), entries: rows };
  });
  if (options.json) return printJson({ organization: slug, balanceCents: balance, entries });
  print(`${slug}: ${cents(balance)}`);
  if (entries.length === 0) return;
  print(
    formatTable(
      ['WHEN', 'AMOUNT', 'WHY', 'CAUSE'],
      entries.map((entry) => [formatTime(entry.createdAt), cents(entry.amountCents), entry.reason, entry.cause]),
    ),
  );
}

const cents = (amount: number): string => (amount / 100).toFixed(2);
