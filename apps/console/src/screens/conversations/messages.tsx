import { ArrowDown } from 'lucide-react';
import { Fragment, useEffect, useState } from 'react';
import { formatDay, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Failure, Skeleton } from '../../parts/states';
import { useScrollPlace } from '../../parts/use-scroll-place';
import { MessageBubble, SentBubble } from './bubbles';
import type { Thread } from './names';
import type { Outgoing } from './outbox';
import type { useOutbox } from './use-outbox';
import { Pending } from './pending';
import { Steps } from './steps';
import { conversationsCatalog } from './texts';
import type { Entry } from './timeline';
import { useTimeline } from './use-timeline';

interface MessagesProps {
  thread: Thread;
  personId: string;
  outgoing: readonly Outgoing[];
  outbox: ReturnType<typeof useOutbox>['outbox'];
  /** Called with the id of the last message that is shown. */
  onLast: (id: string | undefined) => void;
  onEdit: (item: Outgoing) => void;
}

/** The messages of a conversation, the newest at the end. */
export function Messages({ thread, personId, outgoing, outbox, onLast, onEdit }: MessagesProps) {
  const conversations = useTexts(conversationsCatalog);
  const timeline = useTimeline(thread);
  const { messages, entries, lastId } = timeline;
  useEffect(() => {
    // Only the newest messages say what the writer has seen.
    if (messages.isAtNewest) onLast(lastId);
  }, [lastId, onLast, messages.isAtNewest]);
  const { scroller, isAway, toEnd } = useScrollPlace({
    onNearTop: () => timeline.hasOlder && !timeline.isFetchingOlder && timeline.fetchOlder(),
    onNearEnd: () => !messages.isAtNewest && !messages.isFetchingNextPage && messages.fetchNewer(),
  });
  const isLoading = messages.isPending;
  const pending = outgoing.filter(
    ({ storedId }) => !messages.items.some(({ id }) => id === storedId),
  );
  const ownCount = outgoing.length;
  useEffect(() => {
    if (ownCount > 0) toEnd();
  }, [ownCount]);
  const newCount = useNewCount(entries, isAway || !messages.isAtNewest);
  const showNewest = () => {
    if (!messages.isAtNewest) messages.showNewest();
    toEnd();
  };
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label={conversations.messages}
        aria-busy={isLoading}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain px-3 py-3 [overflow-anchor:none]"
      >
        <div className="mx-auto flex min-h-full max-w-2xl flex-col justify-end">
          {isLoading ? (
            <Skeleton className="h-8" />
          ) : messages.isError && entries.length === 0 ? (
            <Failure error={messages.error} onRetry={() => messages.refetch()} />
          ) : (
            <>
              <p className="mb-2 text-center text-xs text-n10">
                {timeline.hasOlder ? (
                  <Button
                    look="quiet"
                    isBusy={timeline.isFetchingOlder}
                    onClick={timeline.fetchOlder}
                  >
                    {conversations.older}
                  </Button>
                ) : entries.length === 0 ? (
                  conversations.emptyThread
                ) : (
                  conversations.beginning
                )}
              </p>
              <ol className="space-y-2">
                {entries.map((entry, at) => (
                  <Fragment key={entry.id}>
                    <Day at={entry.at} before={entries[at - 1]?.at} />
                    <li data-item={entry.id}>
                      <EntryView
                        threadId={thread.id}
                        entry={entry}
                        personId={personId}
                        timeline={timeline}
                      />
                    </li>
                  </Fragment>
                ))}
                {messages.isAtNewest &&
                  pending.map((item, at) => (
                    <li key={item.key}>
                      <Pending
                        item={item}
                        isFirst={at === 0}
                        onAgain={() => outbox.again(item.key, lastId)}
                        onEdit={() => onEdit(item)}
                        onDiscard={() => outbox.discard(item.key)}
                      />
                    </li>
                  ))}
              </ol>
            </>
          )}
        </div>
      </div>
      {(isAway || !messages.isAtNewest) && (
        <p className="pointer-events-none absolute inset-x-0 bottom-2 text-center">
          <Button
            icon={ArrowDown}
            className="pointer-events-auto shadow-float"
            onClick={showNewest}
          >
            {newCount > 0 ? conversations.newMessages(newCount) : conversations.newest}
          </Button>
        </p>
      )}
    </div>
  );
}

interface EntryProps {
  threadId: string;
  entry: Entry;
  personId: string;
  timeline: ReturnType<typeof useTimeline>;
}

function EntryView({ threadId, entry, personId, timeline }: EntryProps) {
  const conversations = useTexts(conversationsCatalog);
  switch (entry.kind) {
    case 'steps':
      return <Steps executionId={entry.executionId} toolCalls={entry.toolCalls} />;
    case 'again':
      return <p className="text-center text-xs text-n10">{conversations.answersAgain}</p>;
    case 'message':
      return (
        <MessageBubble
          threadId={threadId}
          message={entry.message}
          sent={entry.sent}
          personId={personId}
        />
      );
    case 'sent': {
      const to = entry.sent.reaction?.messageId;
      const quoted = to ? (timeline.sentAs(to)?.text ?? null) : null;
      return <SentBubble sent={entry.sent} quoted={quoted} />;
    }
  }
}

/** The day, above its first message. */
function Day({ at, before }: { at: number; before: number | undefined }) {
  const conversations = useTexts(conversationsCatalog);
  const day = new Date(at).toDateString();
  if (before !== undefined && new Date(before).toDateString() === day) return null;
  const now = Date.now();
  const name =
    day === new Date(now).toDateString()
      ? conversations.today
      : day === new Date(now - 86_400_000).toDateString()
        ? conversations.yesterday
        : formatDay(at);
  return (
    <li className="py-2 text-center text-xs text-n10">
      <time dateTime={new Date(at).toISOString()}>{name}</time>
    </li>
  );
}

/** How many messages have arrived since the person reads further up. */
function useNewCount(entries: readonly Entry[], isAway: boolean): number {
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const lastAt = entries.at(-1)?.at ?? 0;
  if (isAway && leftAt === null) setLeftAt(lastAt);
  if (!isAway && leftAt !== null) setLeftAt(null);
  return leftAt === null
    ? 0
    : entries.filter(({ kind, at }) => at > leftAt && kind !== 'steps').length;
}
