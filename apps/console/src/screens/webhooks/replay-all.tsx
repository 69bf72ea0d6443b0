import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { Progress } from '../../parts/progress';
import { type DeliveryFilter, replayOf } from './filter';
import { providers, useMatching, useReplay } from './queries';
import { webhooksCatalog } from './texts';

interface ReplayAllProps {
  filter: DeliveryFilter;
  onStart: (replay: string) => void;
}

/** Asks, and processes all deliveries again that match the filters. */
export function ReplayAll({ filter, onStart }: ReplayAllProps) {
  const webhooks = useTexts(webhooksCatalog);
  const { api } = useWorkspace();
  const { data: matching } = useMatching(filter);
  const replay = useChange(
    () => api.replayWebhookDeliveries(replayOf(filter)!),
    'webhooks',
    'health',
  );
  if (matching === undefined || matching.count === 0 || replayOf(filter) === null) return null;
  const count = formatNumber(matching.count) + (matching.isCapped ? '+' : '');
  const words = [
    filter.provider && (providers[filter.provider] ?? filter.provider),
    webhooks.statuses[filter.status as keyof typeof webhooks.statuses],
    filter.since && webhooks.times[filter.since as keyof typeof webhooks.times],
  ].filter(Boolean);
  return (
    <ConfirmButton
      action={webhooks.replayAll(count)}
      title={webhooks.replayAllTitle}
      question={webhooks.replayAllQuestion(count, words.join(', '))}
      look="primary"
      buttonLook={filter.status === 'failed' ? 'primary' : 'plain'}
      change={replay}
      onDone={({ id }) => onStart(id)}
    />
  );
}

/** How far the replay of the address is. */
export function ReplayProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const { states } = useTexts();
  const webhooks = useTexts(webhooksCatalog);
  const { data, isPending } = useReplay(id);
  if (isPending || data === undefined)
    return (
      <Progress done={0} all={1} onClose={onClose}>
        {states.loading}…
      </Progress>
    );
  if (data === null)
    return (
      <Progress done={0} all={1} onClose={onClose}>
        {webhooks.nothingReplayed}
      </Progress>
    );
  const done = data.deliveries - data.waiting;
  const all = formatNumber(data.deliveries);
  return (
    <Progress done={done} all={data.deliveries} onClose={onClose}>
      {data.waiting > 0 ? webhooks.replaying(formatNumber(done), all) : webhooks.replayed(all)}
      {data.failed > 0 && (
        <span className="text-failed"> · {webhooks.failedAgain(formatNumber(data.failed))}</span>
      )}
    </Progress>
  );
}
