import { getRouteApi } from '@tanstack/react-router';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty, Notice } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import { type Delivery, inputOf } from './filter';
import { providers } from './queries';
import { ReplayAll, ReplayProgress } from './replay-all';
import { webhooksCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/webhooks');

export function Webhooks() {
  const webhooks = useTexts(webhooksCatalog);
  const { api, key } = useWorkspace();
  const { replay, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (search: Partial<typeof filter> & { replay?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace: true });
  const list = usePages(
    [...key, 'webhooks', filter],
    (cursor, signal) => api.listWebhookDeliveries({ ...inputOf(filter), cursor }, { signal }),
    { refetchInterval: 3_000 },
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const view = (status: string | undefined) =>
    linkTo({ to: 'webhooks', search: { ...filter, status, replay } });
  return (
    <ListScreen
      title={webhooks.title}
      list={list}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo({ to: 'webhooks/$deliveryId', params: { deliveryId: id } })}
      mainTitle={webhooks.event}
      main={({ eventType, reason, path }) => [eventType ?? webhooks.noEvent, reason ?? path]}
      columns={[
        {
          title: webhooks.provider,
          widthRem: 6,
          cell: ({ provider }) => providers[provider] ?? provider,
        },
        { title: webhooks.status, widthRem: 9, cell: (item) => <DeliveryStatus item={item} /> },
        {
          title: webhooks.attempts,
          widthRem: 6,
          isNumber: true,
          cell: ({ attempts }) => formatNumber(attempts),
        },
        {
          title: webhooks.received,
          widthRem: 7,
          isNumber: true,
          cell: ({ receivedAt }) => <Ago at={receivedAt} />,
        },
      ]}
      side={(item) => [<DeliveryStatus item={item} />, <Ago at={item.receivedAt} />]}
      above={
        <>
          <ViewTabs
            label={webhooks.views}
            views={[
              [webhooks.all, view(undefined), filter.status === undefined],
              [webhooks.failed, view('failed'), filter.status === 'failed'],
              [webhooks.unattributed, view('unattributed'), filter.status === 'unattributed'],
            ]}
          >
            <ReplayAll filter={filter} onStart={(id) => change({ replay: id })} />
          </ViewTabs>
          {replay && <ReplayProgress id={replay} onClose={() => change({ replay: undefined })} />}
          {filter.status === 'unattributed' && list.items.length > 0 && (
            <div className="shrink-0 px-4 py-2">
              <Notice>{webhooks.unattributedNote}</Notice>
            </div>
          )}
        </>
      }
      onClear={isFiltered ? () => void navigate({ search: { replay }, replace: true }) : undefined}
      empty={
        <Empty title={webhooks.empty} command="npx parley webhooks trigger order.paid">
          {webhooks.emptyText}
        </Empty>
      }
    >
      <Choice
        label={webhooks.provider}
        value={filter.provider ?? ''}
        onChange={({ target }) => change({ provider: target.value || undefined })}
        options={[['', webhooks.anyProvider], ...Object.entries(providers)]}
      />
      <Choice
        label={webhooks.status}
        value={filter.status ?? ''}
        onChange={({ target }) => change({ status: target.value || undefined })}
        options={[['', webhooks.anyStatus], ...Object.entries(webhooks.statuses)]}
      />
      <Choice
        label={webhooks.since}
        value={filter.since ?? ''}
        onChange={({ target }) => change({ since: target.value || undefined })}
        options={Object.entries(webhooks.times)}
      />
    </ListScreen>
  );
}

export function DeliveryStatus({ item: { status } }: { item: Pick<Delivery, 'status'> }) {
  const webhooks = useTexts(webhooksCatalog);
  return <Status status={status} text={webhooks.statuses[status]} />;
}
