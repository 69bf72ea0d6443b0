import { getRouteApi } from '@tanstack/react-router';
import { useWorkspace } from '../../frame/workspace';
import { formatMoney, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { Credits } from './credits';
import { type PaymentStatus, dataOf } from './payment-data';
import { PaymentState } from './payment-state';
import { PaymentTabs } from './payment-tabs';
import { ReconcileReport, useReconcile } from './reconcile';
import { paymentsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/payments');

export function Payments() {
  return route.useSearch().view === 'credits' ? <Credits /> : <PaymentList />;
}

function PaymentList() {
  const payments = useTexts(paymentsCatalog);
  const { api, key } = useWorkspace();
  const status = route.useSearch().status as PaymentStatus | undefined;
  const navigate = route.useNavigate();
  const reconcile = useReconcile();
  const list = usePages(
    [...key, 'payments', status],
    (cursor, signal) => api.listPayments({ status, cursor }, { signal }),
    { refetchInterval: 5_000 },
  );
  const filter = (chosen: string | undefined) =>
    void navigate({ search: { status: chosen }, replace: true });
  return (
    <ListScreen
      title={payments.title}
      list={list}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo({ to: 'payments/$paymentId', params: { paymentId: id } })}
      mainTitle={payments.description}
      main={(item) => {
        const { description, customerEmail } = dataOf(item);
        return [description || payments.noDescription, customerEmail];
      }}
      columns={[
        {
          title: payments.status,
          widthRem: 8,
          cell: (item) => <PaymentState status={dataOf(item).status} />,
        },
        {
          title: payments.amount,
          widthRem: 9,
          isNumber: true,
          cell: (item) => formatMoney(dataOf(item).amount, dataOf(item).currency),
        },
        {
          title: payments.created,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [
        <span className="text-sm tabular-nums">
          {formatMoney(dataOf(item).amount, dataOf(item).currency)}
        </span>,
        <PaymentState status={dataOf(item).status} />,
      ]}
      above={
        <>
          <PaymentTabs>{list.items.length > 0 && reconcile.button}</PaymentTabs>
          <ReconcileReport run={reconcile} />
        </>
      }
      onClear={status && (() => filter(undefined))}
      empty={
        <Empty title={payments.empty} command="npx parley integrations set flow">
          {payments.emptyText}
        </Empty>
      }
    >
      <Choice
        label={payments.status}
        value={status ?? ''}
        onChange={({ target }) => filter(target.value || undefined)}
        options={[['', payments.anyStatus], ...Object.entries(payments.statuses)]}
      />
    </ListScreen>
  );
}
