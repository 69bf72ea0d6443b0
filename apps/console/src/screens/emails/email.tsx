import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ResultOf } from '@parley/client/manage';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, formatNumber, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { TextLink, linkTo } from '../../parts/link';
import { Section } from '../../parts/section';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { EmailStatus } from './emails';
import { emailsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/emails/$emailId');
type EmailItem = ResultOf<'getEmail'>;

/** Afterwards the status changes only with a report of the provider. */
const isOnItsWay = (status: string): boolean => status === 'queued' || status === 'sending';

export function Email() {
  const { emailId } = route.useParams();
  const emails = useTexts(emailsCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'email', emailId],
    queryFn: ({ signal }) => api.getEmail({ id: emailId }, { signal }),
    refetchInterval: ({ state }) => (isOnItsWay(state.data?.status ?? '') ? 1_500 : 10_000),
  });
  if (isPending) return <Skeleton rows={8} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  return (
    <DetailScreen
      title={data.subject || emails.noSubject}
      back={linkTo({ to: 'emails' })}
      backTitle={emails.title}
      head={<EmailStatus status={data.status} />}
      actions={<Retry email={data} />}
    >
      <div className="max-w-3xl space-y-6 p-4">
        {data.error !== null && <Notice kind="failed">{data.error}</Notice>}
        <Way email={data} />
        <Facts
          facts={[
            [emails.to, data.to.map((address) => <CopyText key={address} text={address} />)],
            [emails.created, <Ago at={data.createdAt} />],
            [emails.attempts, formatNumber(data.attempts)],
            [emails.providerId, data.providerId && <CopyText text={data.providerId} />],
            [emails.id, <CopyText text={data.id} />],
            [
              emails.deliveries,
              data.providerId && (
                <TextLink to="webhooks" search={{ provider: 'resend' }}>
                  {emails.showDeliveries}
                </TextLink>
              ),
            ],
          ]}
        />
      </div>
    </DetailScreen>
  );
}

/** The statuses on the way to a recipient, up to the one that the e-mail has. */
function Way({ email: { status } }: { email: EmailItem }) {
  const emails = useTexts(emailsCatalog);
  const way = ['queued', 'sending', 'sent', 'delivered'];
  const passed = ['bounced', 'complained'].includes(status)
    ? ['queued', 'sending', 'sent']
    : ['queued'];
  const steps = way.includes(status) ? way.slice(0, way.indexOf(status) + 1) : [...passed, status];
  return (
    <Section title={emails.path}>
      <ol className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {steps.map((step, at) => (
          <li
            key={step}
            aria-current={step === status ? 'step' : undefined}
            className="flex items-center gap-3"
          >
            {at > 0 && (
              <span aria-hidden className="text-n8">
                →
              </span>
            )}
            {step === status ? (
              <EmailStatus status={step} />
            ) : (
              <span className="text-n11">
                {emails.statuses[step as keyof typeof emails.statuses] ?? step}
              </span>
            )}
          </li>
        ))}
      </ol>
      <p className="mt-2 text-n11">
        {emails.meaning[status as keyof typeof emails.meaning] ?? status}
      </p>
    </Section>
  );
}

/** Resend recognizes a repeated e-mail for a day (docs/reference/providers.md#resend-e-mails). */
const recognizedMs = 23 * 3_600_000;

function Retry({ email: { id, status, createdAt } }: { email: EmailItem }) {
  const emails = useTexts(emailsCatalog);
  const { api } = useWorkspace();
  const isInDoubt = status === 'unknown' && createdAt < Date.now() - recognizedMs;
  const retry = useChange(
    () => api.retryEmail({ id, anyway: isInDoubt }),
    'email',
    'emails',
    'health',
  );
  if (status !== 'failed' && status !== 'unknown') return null;
  const action = isInDoubt ? emails.retryAnyway : emails.retry;
  const question = isInDoubt
    ? emails.retryDoubt(formatExact(createdAt))
    : status === 'unknown'
      ? emails.retryUnknown
      : emails.retryQuestion;
  return (
    <ConfirmButton
      action={action}
      question={question}
      look={isInDoubt ? 'danger' : 'primary'}
      buttonLook="primary"
      change={retry}
    />
  );
}
