import type { ResultOf } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, CheckCheck, ChevronRight, Clock, TriangleAlert } from 'lucide-react';
import { Fragment, useEffect, useState } from 'react';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatDay, formatDuration, formatExact, formatTime, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { useEndOfList } from '../../parts/end-of-list';
import { usePages } from '../../parts/pages';
import { Failure, Skeleton } from '../../parts/states';
import { nameOfStep, useExecution } from '../executions/trace';
import type { Thread } from './conversation';
import { Media } from './media';
import type { Outgoing, useOutbox } from './outbox';
import { conversationsCatalog } from './texts';

export type Message = ResultOf<'listThreadMessages'>['data'][number];

interface MessagesProps {
  thread: Thread;
  personId: string;
  outgoing: readonly Outgoing[];
  outbox: ReturnType<typeof useOutbox>['outbox'];
  /** Called with the id of the last message that is shown. */
  onLast: (id: string | undefined) => void;
}

export function Messages({ thread, personId, outgoing, outbox, onLast }: MessagesProps) {
  const conversations = useTexts(conversationsCatalog);
  const { api, key } = useWorkspace();
  const list = usePages(
    [...key, 'thread', thread.id, 'messages'],
    (cursor, signal) => api.listThreadMessages({ id: thread.id, cursor }, { signal }),
    { refetchInterval: 3_000 },
  );
  const { data: channelMessages } = useQuery({
    queryKey: [...key, 'thread', thread.id, 'files'],
    queryFn: ({ signal }) => api.listChannelMessages({ threadId: thread.id, limit: 100 }, { signal }),
    enabled: thread.channel === 'whatsapp',
    refetchInterval: 5_000,
  });
  const files = new Map(
    channelMessages?.data.filter(({ media }) => media !== null).map(({ id, media }) => [id, media!]),
  );
  const messages = list.items.toReversed();
  // What the contact wrote or got: notes are for people.
  const lastId = list.items.find(
    ({ role, content }) => (role === 'user' || role === 'assistant') && content !== '',
  )?.id;
  useEffect(() => onLast(lastId), [lastId, onLast]);
  const { scroller, keepPlace } = useEndOfList(`${lastId} ${outgoing.length}`);
  if (list.isPending) return <Skeleton className="h-8" />;
  if (list.isError && messages.length === 0) return <Failure error={list.error} onRetry={() => list.refetch()} />;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="log"
      aria-label={conversations.title}
      className="min-h-0 flex-1 overflow-auto px-3 py-3"
    >
      {list.hasNextPage && (
        <p className="mb-3 text-center">
          <Button look="quiet" isBusy={list.isFetchingNextPage} onClick={() => (keepPlace(), list.fetchNextPage())}>
            {conversations.older}
          </Button>
        </p>
      )}
      <ol className="mx-auto max-w-2xl space-y-2">
        {messages.map((message, at) => {
          const before = messages[at - 1];
          const isNewDay =
            before === undefined ||
            new Date(before.createdAt).toDateString() !== new Date(message.createdAt).toDateString();
          const steps = stepsBefore(messages, at);
          return (
            <Fragment key={message.id}>
              {isNewDay && (
                <li className="py-2 text-center text-xs text-n10">
                  <time dateTime={new Date(message.createdAt).toISOString()}>{formatDay(message.createdAt)}</time>
                </li>
              )}
              {steps !== null && <Steps executionId={message.executionId} toolCalls={steps} />}
              {(message.content !== '' || files.has(message.channelMessageId ?? '')) && (
                <Bubble message={message} personId={personId} media={files.get(message.channelMessageId ?? '')} />
              )}
            </Fragment>
          );
        })}
        {outgoing.map((item) => (
          <Pending
            key={item.key}
            item={item}
            onAgain={() => outbox.again(item.key, lastId)}
            onDiscard={() => outbox.discard(item.key)}
          />
        ))}
      </ol>
    </div>
  );
}

/** The number of tool calls of an execution, at its first message of the agent; null elsewhere. */
function stepsBefore(messages: readonly Message[], at: number): number | null {
  const { role, author, executionId } = messages[at]!;
  const isOfAgent = role === 'assistant' && author === null;
  if (!isOfAgent) return null;
  const own = messages.filter(
    (one) => one.executionId === executionId && one.role === 'assistant' && one.author === null,
  );
  return own[0] === messages[at] ? own.reduce((sum, one) => sum + one.toolCallIds.length, 0) : null;
}

const looks = {
  user: 'mr-auto bg-n3',
  assistant: 'ml-auto bg-accent-soft',
  person: 'ml-auto bg-person-soft',
  note: 'mx-auto w-full border border-dashed border-waiting bg-waiting-soft',
  system: 'mx-auto w-full border border-dashed border-n7',
};

function Bubble({
  message,
  personId,
  media,
}: {
  message: Message;
  personId: string;
  media?: Parameters<typeof Media>[0]['media'];
}) {
  const conversations = useTexts(conversationsCatalog);
  const { role, author, content, createdAt, delivery } = message;
  const look = role === 'assistant' && author !== null ? 'person' : role;
  const writer = author === null ? null : author.id === personId ? conversations.you : author.name;
  const kind = { note: conversations.teamNote, system: conversations.handedBack, user: null, assistant: null }[role];
  return (
    <li className={`w-fit max-w-[85%] rounded px-3 py-2 ${looks[look]}`}>
      {(writer ?? kind) && <p className="text-xs text-n11">{[writer, kind].filter(Boolean).join(' · ')}</p>}
      {media && message.channelMessageId && <Media id={message.channelMessageId} media={media} />}
      {content !== '' && <p className="text-base whitespace-pre-wrap [@media(pointer:coarse)]:text-lg">{content}</p>}
      <p className="mt-0.5 flex items-center justify-end gap-1 text-xs text-n11">
        <time dateTime={new Date(createdAt).toISOString()} title={formatExact(createdAt)}>
          {formatTime(createdAt)}
        </time>
        {delivery && <Ticks status={delivery.status} />}
      </p>
      {delivery?.error && <p className="text-xs text-failed">{conversations.notSent(delivery.error)}</p>}
    </li>
  );
}

/** The state of a message at the channel, as people know it from WhatsApp. */
function Ticks({ status }: { status: string }) {
  const conversations = useTexts(conversationsCatalog);
  const Icon =
    status === 'sent'
      ? Check
      : status === 'delivered' || status === 'read'
        ? CheckCheck
        : status === 'failed' || status === 'unknown'
          ? TriangleAlert
          : Clock;
  const text = conversations.delivery[status] ?? status;
  return (
    <span
      title={text}
      className={status === 'read' ? 'text-accent' : status === 'failed' || status === 'unknown' ? 'text-failed' : ''}
    >
      <Icon aria-hidden size={14} />
      <span className="sr-only">{text}</span>
    </span>
  );
}

/** A message that is not stored yet: it stays in its place until it is, or until it is discarded. */
function Pending({ item, onAgain, onDiscard }: { item: Outgoing; onAgain: () => void; onDiscard: () => void }) {
  const conversations = useTexts(conversationsCatalog);
  return (
    <li
      className={`w-fit max-w-[85%] rounded px-3 py-2 ${item.kind === 'note' ? looks.note : looks.person} ${item.error === null ? 'opacity-70' : ''}`}
    >
      <p className="text-base whitespace-pre-wrap">{item.shown}</p>
      {item.error === null ? (
        <p className="mt-0.5 flex items-center justify-end gap-1 text-xs text-n11">
          <Clock aria-hidden size={14} /> {conversations.sending}
        </p>
      ) : (
        <div role="alert" className="mt-1">
          <p className="text-xs text-failed">
            {item.isChanged ? conversations.changed : conversations.notSent(item.error)}
          </p>
          <p className="mt-1 flex gap-1">
            <Button onClick={onAgain}>{conversations.tryAgain}</Button>
            <Button look="quiet" onClick={onDiscard}>
              {conversations.discard}
            </Button>
          </p>
        </div>
      )}
    </li>
  );
}

/** What the agent did for a message, folded. */
function Steps({ executionId, toolCalls }: { executionId: string; toolCalls: number }) {
  const conversations = useTexts(conversationsCatalog);
  const { units } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="text-right text-xs text-n11">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        title={conversations.showSteps}
        className="inline-flex items-center gap-1 rounded px-1 hover:bg-n3"
      >
        <ChevronRight aria-hidden size={12} className={isOpen ? 'rotate-90' : ''} />
        {conversations.state.agent}
        {toolCalls > 0 && ` · ${units.tools(toolCalls)}`}
      </button>
      {isOpen && <OpenSteps executionId={executionId} />}
    </li>
  );
}

function OpenSteps({ executionId }: { executionId: string }) {
  const texts = useTexts();
  const conversations = useTexts(conversationsCatalog);
  const place = usePlace();
  const { data, error, isPending } = useExecution(executionId);
  if (isPending) return <Skeleton rows={2} />;
  if (data === undefined) return <Failure error={error} />;
  return (
    <div className="ml-auto w-fit max-w-full rounded border border-n5 p-2 text-left">
      <ul>
        {data.steps.map((step, at) => (
          <li key={at} className="flex gap-3">
            <span className={`min-w-0 flex-1 truncate ${step.status === 'error' ? 'text-failed' : ''}`}>
              {nameOfStep(step)}
            </span>
            <span className="tabular-nums">{formatDuration(step.durationMs, texts)}</span>
          </li>
        ))}
      </ul>
      <Link
        to="/$organization/$environment/executions/$executionId"
        params={{ ...place, executionId }}
        search={{}}
        className="text-accent underline"
      >
        {conversations.openExecution}
      </Link>
    </div>
  );
}
