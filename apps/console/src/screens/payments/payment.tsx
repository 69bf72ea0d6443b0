import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import type { ResultOf } from '@parley/client/manage';
import { ownValue } from '@parley/rows';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, formatMoney, formatNumber, useTexts } from '../../i18n';
import { Button, CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { EntityLink } from '../../parts/entity-link';
import { Json } from '../../parts/json';
import { linkTo } from '../../parts/link';
import { Section } from '../../parts/section';
import { Failure, Notice, Problem, Skeleton } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { dataOf } from './payment-data';
import { PaymentState } from './payment-state';
import { paymentsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/payments/$paymentId');
type History = ResultOf<'getPayment'>;

export function Payment() {
  const { paymentId } = route.useParams();
  const payments = useTexts(paymentsCatalog);
  const { api, key } = useWorkspace();
  const ask = useChange(
    () => api.reconcilePayment({ id: paymentId }),
    'payment',
    'payments',
    'health',
  );
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'payment', paymentId],
    queryFn: ({ signal }) => api.getPayment({ id: paymentId }, { signal }),
    refetchInterval: 5_000,
  });
  if (isPending) return <Skeleton rows={10} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  const payment = dataOf(data.payment);
  const isOpen = payment.status === 'pending' || payment.status === 'draft';
  return (
    <DetailScreen
      title={formatMoney(payment.amount, payment.currency)}
      back={linkTo({ to: 'payments' })}
      backTitle={payments.title}
      head={
        <>
          <PaymentState status={payment.status} />
          <span className="min-w-0 truncate text-n11">{payment.description}</span>
        </>
      }
      actions={
        <Button
          look={isOpen ? 'primary' : 'plain'}
          isBusy={ask.isPending}
          onClick={() => ask.mutate()}
        >
          {payments.ask}
        </Button>
      }
    >
      <div className="grid items-start gap-6 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
        <div className="min-w-0 space-y-6">
          <Problem error={ask.error} />
          {ask.data && !ask.isPending && <Answer provider={ask.data.provider} />}
          {payment.failureReason && (
            <div role="group" aria-label={payments.failure}>
              <Notice kind="failed">{payment.failureReason}</Notice>
            </div>
          )}
          <Timeline events={data.events} />
        </div>
        <div className="min-w-0 space-y-6">
          <PaymentFacts history={data} />
          <Json value={data.payment.data} label={payments.data} />
        </div>
      </div>
    </DetailScreen>
  );
}

function Answer({ provider }: { provider: ResultOf<'reconcilePayment'>['provider'] }) {
  const payments = useTexts(paymentsCatalog);
  return (
    <section
      role="status"
      aria-label={payments.answer}
      className="rounded border border-n6 px-3 py-2"
    >
      <h2 className="text-n11">{payments.answer}</h2>
      <p>
        {provider === null
          ? payments.noOrder
          : payments.answerOf(provider.status, provider.message)}
      </p>
    </section>
  );
}

/** The status that each event leads to. */
const statusOf: Record<string, string> = {
  'payment.created': 'draft',
  'payment.link_created': 'pending',
  'payment.paid': 'paid',
  'payment.failed': 'failed',
  'payment.mismatch': 'unknown',
};

function Timeline({ events }: { events: History['events'] }) {
  const payments = useTexts(paymentsCatalog);
  return (
    <Section title={payments.timeline}>
      {events.length === 0 && <p className="text-n11">{payments.noEvents}</p>}
      <ol className="space-y-2 border-l border-n6 pl-4">
        {events.map(({ type, at, actor, problem }, index) => (
          <li key={index}>
            <p className="flex flex-wrap items-center gap-x-3">
              <Status
                status={ownValue(statusOf, type) ?? ''}
                text={payments.events[type as keyof typeof payments.events] ?? type}
              />
              <time dateTime={new Date(at).toISOString()} className="tabular-nums">
                {formatExact(at)}
              </time>
              <span className="text-n10">
                <Ago at={at} /> ·{' '}
                {payments.by[actor.type as keyof typeof payments.by] ?? actor.type}
              </span>
            </p>
            {problem !== null && <p className="text-failed">{problem}</p>}
          </li>
        ))}
      </ol>
    </Section>
  );
}

function PaymentFacts({ history: { payment, paidFor, attempts } }: { history: History }) {
  const payments = useTexts(paymentsCatalog);
  const { customerEmail, providerReference, paymentLinkUrl, paidAt } = dataOf(payment);
  return (
    <Facts
      facts={[
        [payments.customer, customerEmail && <CopyText text={customerEmail} />],
        [
          payments.link,
          paymentLinkUrl && (
            <span className="flex flex-col items-start gap-1">
              <CopyText text={paymentLinkUrl} />
              <a
                href={paymentLinkUrl}
                target="_blank"
                rel="noopener noreferrer"
                className="tap inline-flex items-center gap-1 text-accent underline"
              >
                {payments.openLink}
                <ExternalLink aria-hidden size={14} />
              </a>
            </span>
          ),
        ],
        [payments.reference, providerReference && <CopyText text={providerReference} />],
        [payments.orders, attempts !== null && formatNumber(attempts)],
        [
          payments.paidFor,
          paidFor.length > 0 && (
            <ul className="space-y-1">
              {paidFor.map((id) => (
                <li key={id}>
                  <EntityLink id={id} />
                </li>
              ))}
            </ul>
          ),
        ],
        [payments.created, <Ago at={payment.createdAt} />],
        [payments.paidAt, paidAt !== null && <Ago at={paidAt} />],
        [payments.entity, <EntityLink id={payment.id} type={payment.type} />],
      ]}
    />
  );
}
