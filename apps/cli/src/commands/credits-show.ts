import { listCreditEntries, readBalance } from '@parley/payments';
import { withDatabase } from '../database';
import { findOrganization } from '../organizations';
import { parseLimit } from '../page';
import { formatTable, formatTime, print, printJson } from '../terminal';

/** `parley credits show`: prints the balance, which is the sum of the ledger, and the last entries. */
export async function runCreditsShow(options: { org?: string; limit?: string; json?: boolean }): Promise<void> {
  const limit = parseLimit(options.limit, 20);
  const { slug, balanceCents, entries } = await withDatabase(async (db) => {
    const organization = await findOrganization(db, options.org);
    const { items: entries } = await listCreditEntries(db, organization, { limit, before: null });
    return { slug: organization.slug, balanceCents: await readBalance(db, organization), entries };
  });
  if (options.json) return printJson({ organization: slug, balanceCents, entries });
  print(`${slug}: ${cents(balanceCents)}`);
  if (entries.length === 0) return;
  print(
    formatTable(
      ['WHEN', 'AMOUNT', 'WHY', 'CAUSE'],
      entries.map((entry) => [formatTime(entry.createdAt), cents(entry.amountCents), entry.reason, entry.cause]),
    ),
  );
}

const cents = (amount: number): string => (amount / 100).toFixed(2);
