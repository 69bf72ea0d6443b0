import { type ListOptions, printList, withManage } from '../manage';
import { formatTime, print } from '../terminal';

/**
 * `parley credits show`: prints the balance, which is the sum of the ledger, and the last entries.
 */
export async function runCreditsShow(options: ListOptions): Promise<void> {
  const { balanceCents } = await withManage(options, (manage) => manage.getCredits());
  if (!options.json) print(`balance: ${cents(balanceCents)}`);
  await printList(options, {
    items: 'credit entries',
    read: (manage) => manage.listCreditEntries,
    columns: {
      WHEN: ({ createdAt }) => formatTime(createdAt),
      AMOUNT: ({ amountCents }) => cents(amountCents),
      WHY: ({ reason }) => reason,
      CAUSE: ({ cause }) => cause,
    },
    more: { balanceCents },
  });
}

const cents = (amount: number): string => (amount / 100).toFixed(2);
