import { ownValue } from '@parley/rows';
import { Check, CheckCheck, Clock, type LucideIcon, TriangleAlert } from 'lucide-react';
import { messageOf } from '../../api/errors';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { conversationsCatalog } from './texts';

const icons: Record<string, LucideIcon> = {
  sent: Check,
  delivered: CheckCheck,
  read: CheckCheck,
  failed: TriangleAlert,
  unknown: TriangleAlert,
};
const isBad = (status: string): boolean => status === 'failed' || status === 'unknown';

/** The state of a message at the channel, as people know it from WhatsApp. */
export function Ticks({ status }: { status: string }) {
  const conversations = useTexts(conversationsCatalog);
  const Icon = ownValue(icons, status) ?? Clock;
  const text = conversations.delivery[status] ?? status;
  return (
    <span
      title={text}
      className={status === 'read' ? 'text-accent' : isBad(status) ? 'text-failed' : ''}
    >
      <Icon aria-hidden size={14} />
      <span className="sr-only">{text}</span>
    </span>
  );
}

interface UndeliveredProps {
  /**
   * The message of the channel: one to the contact that was not sent, or one of the contact that
   * was not answered.
   */
  sent: { id: string; status: string; error: string | null };
  isInbound?: boolean;
}

/** Why a message did not arrive or was not answered, and another attempt. */
export function Undelivered({ sent, isInbound = false }: UndeliveredProps) {
  const conversations = useTexts(conversationsCatalog);
  const { states } = useTexts();
  const { api } = useWorkspace();
  const isInDoubt = sent.status === 'unknown';
  const retry = useChange(
    () => api.retryChannelMessage({ id: sent.id, anyway: isInDoubt }),
    'thread',
  );
  if (!isBad(sent.status)) return null;
  const error = sent.error ?? states.noValue;
  const known = conversations.reasons[/\b1[34]\d{4}\b/.exec(error)?.[0] ?? ''];
  // The provider's own words help a person who asks its support.
  const reason = known === undefined ? error : `${known} (${error})`;
  return (
    <div className="mt-1 space-y-1 text-xs text-failed">
      <p>
        {isInDoubt
          ? conversations.maybeDelivered
          : isInbound
            ? conversations.inboundFailed(reason)
            : conversations.notDelivered(reason)}
      </p>
      {retry.error !== null && <p role="alert">{messageOf(retry.error)}</p>}
      <Button isBusy={retry.isPending} onClick={() => retry.mutate()} className="text-n12">
        {isInDoubt
          ? conversations.sendAnyway
          : isInbound
            ? conversations.answerAgain
            : conversations.tryAgain}
      </Button>
    </div>
  );
}
