import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api/errors';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Confirm } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { TextLink } from '../../parts/link';
import { Progress } from '../../parts/progress';
import { homeCatalog } from './texts';

const shownMessages = 5;

/**
 * The newest messages with a problem, each with its conversation. Failed ones can be
 * retried together.
 */
export function ProblemMessages({ status }: { status: 'failed' | 'unknown' }) {
  const home = useTexts(homeCatalog);
  const { api, key } = useWorkspace();
  const { data } = useQuery({
    queryKey: [...key, 'channel-messages', status],
    queryFn: ({ signal }) => api.listChannelMessages({ status, limit: 100 }, { signal }),
    refetchInterval: 15_000,
  });
  const messages = data?.data ?? [];
  return (
    <>
      <ul className="w-full space-y-1">
        {messages.slice(0, shownMessages).map(({ id, contact, text, error, threadId }) => (
          <li key={id} className="flex min-w-0 flex-wrap items-baseline gap-x-2">
            <span className="max-w-64 truncate">{text || contact}</span>
            {error && <span className="text-failed">{error}</span>}
            {threadId && (
              <TextLink to="conversations/$threadId" params={{ threadId }}>
                {home.openConversation}
              </TextLink>
            )}
          </li>
        ))}
      </ul>
      {status === 'failed' && <RetryMessages ids={messages.map(({ id }) => id)} />}
    </>
  );
}

interface Retried {
  done: number;
  all: number;
  refused: number;
  /** Why the last one was refused. */
  reason: string;
}

function RetryMessages({ ids }: { ids: readonly string[] }) {
  const home = useTexts(homeCatalog);
  const { api } = useWorkspace();
  const [isAsking, setAsking] = useState(false);
  const [retried, setRetried] = useState<Retried | null>(null);
  const retry = useChange(
    async () => {
      setAsking(false);
      let [done, refused, reason] = [0, 0, ''];
      for (const id of ids) {
        try {
          await api.retryChannelMessage({ id });
        } catch (error) {
          [refused, reason] = [refused + 1, messageOf(error)];
        }
        setRetried({ done: ++done, all: ids.length, refused, reason });
      }
    },
    ...['channel-messages', 'health'],
  );
  const count = formatNumber(ids.length);
  return (
    <>
      {ids.length > 0 && !retry.isPending && (
        <Button onClick={() => setAsking(true)}>{home.retryMessages(count)}</Button>
      )}
      {retried !== null && (
        <div className="order-last w-full">
          <Progress done={retried.done} all={retried.all} onClose={() => setRetried(null)}>
            {retried.done < retried.all
              ? home.retryingMessages(formatNumber(retried.done), formatNumber(retried.all))
              : home.retriedMessages(formatNumber(retried.all - retried.refused))}
            {retried.refused > 0 && (
              <span className="text-failed">
                {' '}
                · {home.refusedMessages(formatNumber(retried.refused), retried.reason)}
              </span>
            )}
          </Progress>
        </div>
      )}
      {isAsking && (
        <Confirm
          title={home.retryMessages(count)}
          question={home.retryMessagesQuestion(count)}
          action={home.retryMessages(count)}
          look="primary"
          run={retry}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
