import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { formatCents, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { PaymentTabs } from './payment-tabs';
import { paymentsCatalog } from './texts';

/** The balance of the organization, and the entries that it is the sum of. */
export function Credits() {
  const payments = useTexts(paymentsCatalog);
  const { api, key } = useWorkspace();
  const { data: credits } = useQuery({
    queryKey: [...key, 'credits', 'balance'],
    queryFn: ({ signal }) => api.getCredits({}, { signal }),
    refetchInterval: 10_000,
  });
  const list = usePages(
    [...key, 'credits', 'entries'],
    (cursor, signal) => api.listCreditEntries({ cursor }, { signal }),
    { refetchInterval: 10_000 },
  );
  return (
    <ListScreen
      title={payments.title}
      list={list}
      keyOf={({ id }) => id}
      mainTitle={payments.entry}
      main={({ reason, cause }) => [reason, <code className="font-mono">{cause}</code>]}
      columns={[
        {
          title: payments.amount,
          widthRem: 8,
          isNumber: true,
          cell: ({ amountCents }) => <Amount cents={amountCents} />,
        },
        {
          title: payments.date,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
        { title: payments.id, widthRem: 18, cell: ({ id }) => <CopyText text={id} /> },
      ]}
      side={({ amountCents, createdAt }) => [
        <Amount cents={amountCents} />,
        <Ago at={createdAt} />,
      ]}
      above={
        <>
          <PaymentTabs />
          {credits && (
            <p className="flex shrink-0 flex-wrap items-baseline gap-x-2 border-b border-n5 px-4 py-3">
              <span className="text-n11">{payments.balance}</span>
              <span
                className={`text-xl font-semibold tabular-nums ${credits.balanceCents < 0 ? 'text-failed' : ''}`}
              >
                {formatCents(credits.balanceCents)}
              </span>
              <span className="text-n10">{payments.balanceNote}</span>
            </p>
          )}
        </>
      }
      empty={<Empty title={payments.emptyCredits}>{payments.emptyCreditsText}</Empty>}
    />
  );
}

function Amount({ cents }: { cents: number }) {
  return (
    <span className={`tabular-nums ${cents < 0 ? 'text-failed' : ''}`}>
      {cents > 0 && '+'}
      {formatCents(cents)}
    </span>
  );
}
