import { useQuery } from '@tanstack/react-query';
import { type LinkProps, getRouteApi } from '@tanstack/react-router';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { TextLink, linkTo } from '../../parts/link';
import { Section } from '../../parts/section';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import type { Delivery } from './filter';
import { providers } from './queries';
import { webhooksCatalog } from './texts';
import { DeliveryStatus } from './webhooks';

const route = getRouteApi('/$organization/$environment/webhooks/$deliveryId');

export function WebhookDelivery() {
  const { deliveryId } = route.useParams();
  const webhooks = useTexts(webhooksCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'webhook', deliveryId],
    queryFn: ({ signal }) => api.getWebhookDelivery({ id: deliveryId }, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'received' ? 1_500 : 15_000),
  });
  if (isPending) return <Skeleton rows={10} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  const { headers, body, ...delivery } = data;
  return (
    <DetailScreen
      title={delivery.eventType ?? webhooks.noEvent}
      back={linkTo({ to: 'webhooks' })}
      backTitle={webhooks.title}
      head={
        <>
          <DeliveryStatus item={delivery} />
          <span className="text-n11">
            {providers[delivery.provider] ?? delivery.provider} · <Ago at={delivery.receivedAt} />
          </span>
        </>
      }
      actions={<Replay delivery={delivery} />}
    >
      <div className="grid items-start gap-6 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
        <div className="min-w-0 space-y-4">
          <Reason delivery={delivery} />
          <Json value={body} label={webhooks.body} />
        </div>
        <div className="min-w-0 space-y-6">
          <DeliveryFacts delivery={delivery} />
          <Headers headers={headers as Record<string, string>} />
        </div>
      </div>
    </DetailScreen>
  );
}

function Replay({ delivery: { id, status } }: { delivery: Delivery }) {
  const webhooks = useTexts(webhooksCatalog);
  const { api } = useWorkspace();
  const replay = useChange(
    () => api.replayWebhookDelivery({ id }),
    'webhook',
    'webhooks',
    'health',
  );
  if (status === 'rejected' || status === 'held' || status === 'received') return null;
  return (
    <ConfirmButton
      action={webhooks.replay}
      question={webhooks.replayQuestion}
      look="primary"
      buttonLook={status === 'failed' || status === 'unattributed' ? 'primary' : 'plain'}
      change={replay}
    />
  );
}

const secrets: Record<string, string> = {
  clerk: 'IDENTITY_WEBHOOK_SECRET',
  kapso: 'MESSAGING_WEBHOOK_SECRET',
  polar: 'BILLING_WEBHOOK_SECRET',
  resend: 'EMAIL_WEBHOOK_SECRET',
};

/** Why it is as it is, and what a person can do. */
function Reason({ delivery: { status, provider, reason } }: { delivery: Delivery }) {
  const webhooks = useTexts(webhooksCatalog);
  const { isAdmin } = useWorkspace();
  const { advice } = webhooks;
  const isBad = status === 'failed' || status === 'rejected';
  const links: Record<string, [string, LinkProps] | undefined> = {
    kapso: [webhooks.toChannels, linkTo({ to: 'channels' })],
    flow: isAdmin
      ? [webhooks.toIntegrations, linkTo({ to: 'integrations', search: { open: 'flow' } })]
      : undefined,
  };
  const toDo = {
    received: advice.received,
    failed: advice.failed,
    held: advice.held,
    rejected: advice.rejected(secrets[provider] ?? provider),
    unattributed: advice[provider as 'kapso' | 'flow' | 'polar' | 'resend'] ?? advice.other,
    processed: null,
    ignored: null,
  }[status];
  const link = status === 'unattributed' ? links[provider] : undefined;
  return (
    <>
      {reason !== null &&
        (isBad || status === 'unattributed' ? (
          <Notice kind={isBad ? 'failed' : 'waiting'}>{reason}</Notice>
        ) : (
          <p className="text-n11">{reason}</p>
        ))}
      {toDo !== null && (
        <Section title={webhooks.toDo}>
          <p className="max-w-prose text-n11">
            {toDo} {link && <TextLink {...link[1]}>{link[0]}</TextLink>}
          </p>
        </Section>
      )}
    </>
  );
}

function DeliveryFacts({ delivery }: { delivery: Delivery }) {
  const webhooks = useTexts(webhooksCatalog);
  // The reason of a callback names the payment that it is about.
  const paymentId =
    delivery.provider === 'flow' ? /\bent_\w+/.exec(delivery.reason ?? '')?.[0] : undefined;
  return (
    <Facts
      facts={[
        [webhooks.received, <Ago at={delivery.receivedAt} />],
        [webhooks.processed, delivery.processedAt !== null && <Ago at={delivery.processedAt} />],
        [webhooks.attempts, formatNumber(delivery.attempts)],
        [
          webhooks.payment,
          paymentId && (
            <TextLink to="payments/$paymentId" params={{ paymentId }} className="font-mono text-xs">
              {paymentId}
            </TextLink>
          ),
        ],
        [webhooks.path, <code className="font-mono text-xs">{delivery.path}</code>],
        [webhooks.signature, delivery.signed ? webhooks.signed : webhooks.unsigned],
        [webhooks.providerId, <CopyText text={delivery.deliveryId} />],
        [webhooks.id, <CopyText text={delivery.id} />],
      ]}
    />
  );
}

function Headers({ headers }: { headers: Record<string, string> }) {
  const webhooks = useTexts(webhooksCatalog);
  const names = Object.entries(headers);
  return (
    <Section title={webhooks.headers}>
      {names.length === 0 ? (
        <p className="text-n11">{webhooks.noHeaders}</p>
      ) : (
        <Facts
          facts={names.map(([name, value]) => [
            name,
            <code className="font-mono text-xs">{value}</code>,
          ])}
        />
      )}
    </Section>
  );
}
