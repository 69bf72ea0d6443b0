import { Hourglass, UserRound } from 'lucide-react';
import { formatSpan, useTexts } from '../../i18n';
import { Link } from '../../parts/link';
import { Ago, useTick } from '../../parts/time';
import { inboxCatalog } from './inbox-texts';
import {
  type ListedThread,
  filesIn,
  nameOf,
  threadRoute,
  windowEndOf,
  withoutFiles,
} from './names';
import { conversationsCatalog } from './texts';

interface ThreadRowProps {
  thread: ListedThread;
  isOpen: boolean;
  /** It has left the view since the order was applied. */
  isGone: boolean;
  personId: string;
}

/**
 * One conversation of the list: who, why it waits or what was written last, and how long a
 * reply may be written.
 */
export function ThreadRow({ thread, isOpen, isGone, personId }: ThreadRowProps) {
  const conversations = useTexts(conversationsCatalog);
  const inbox = useTexts(inboxCatalog);
  useTick(15_000);
  const { state, takenOverBy, waitingReason, waitingSince, lastMessageAt, isUnread, labels } =
    thread;
  const isWaiting = state === 'waiting' && !isGone;
  const last = <LastMessage text={thread.lastInput ?? ''} />;
  const person =
    takenOverBy === null
      ? null
      : takenOverBy.id === personId
        ? conversations.you
        : takenOverBy.name;
  return (
    <Link
      to={threadRoute}
      params={{ threadId: thread.id }}
      search={(before) => ({ ...before, contact: undefined }) as never}
      aria-current={isOpen ? 'page' : undefined}
      className={`flex h-full flex-col justify-center gap-0.5 border-b border-n4 px-3 ${isOpen ? 'bg-n4' : 'hover:bg-n2'}`}
    >
      <span className="flex items-baseline gap-2">
        {isUnread && (
          <span className="size-2 shrink-0 self-center rounded-full bg-accent" title={inbox.unread}>
            <span className="sr-only">{inbox.unread}</span>
          </span>
        )}
        <span
          className={`min-w-0 flex-1 truncate text-base ${isUnread ? 'font-semibold' : 'font-medium'}`}
        >
          {nameOf(thread) ?? conversations.unnamed}
        </span>
        {isWaiting && waitingSince !== null ? (
          <span className="shrink-0 text-xs font-medium text-waiting tabular-nums">
            {inbox.waitsFor(formatSpan(Date.now() - waitingSince))}
          </span>
        ) : (
          <Ago at={lastMessageAt} className="shrink-0 text-xs text-n11" />
        )}
      </span>
      <span className="flex gap-2 text-n11">
        <span className={`min-w-0 flex-1 truncate ${isWaiting ? 'font-medium text-waiting' : ''}`}>
          {isGone ? inbox.moved : isWaiting && waitingReason ? waitingReason : last}
        </span>
        {person !== null && !isGone && (
          <span className="inline-flex max-w-1/2 shrink-0 items-center gap-1 text-xs text-person">
            <UserRound aria-hidden size={12} className="shrink-0" />
            <span className="truncate">{person}</span>
          </span>
        )}
      </span>
      <span className="flex gap-2 text-xs text-n10">
        <span className="min-w-0 flex-1 truncate">
          {isWaiting && waitingReason
            ? last
            : [
                conversations.channels[thread.channel] ?? thread.channel,
                thread.agentSlug,
                ...labels,
              ]
                .filter(Boolean)
                .join(' · ')}
        </span>
        <WindowLeft thread={thread} />
      </span>
    </Link>
  );
}

function LastMessage({ text }: { text: string }) {
  const inbox = useTexts(inboxCatalog);
  return [...filesIn(text).map((kind) => inbox.file[kind] ?? kind), withoutFiles(text)]
    .filter(Boolean)
    .join(' · ');
}

/** Hours in which the end of the window is shown as urgent. */
const urgentMs = 2 * 3_600_000;

function WindowLeft({ thread }: { thread: ListedThread }) {
  const inbox = useTexts(inboxCatalog);
  const end = windowEndOf(thread);
  if (end === null) return null;
  const leftMs = end - Date.now();
  return (
    <span
      title={inbox.windowTitle}
      className={`inline-flex shrink-0 items-center gap-1 ${leftMs < urgentMs && leftMs > 0 ? 'text-waiting' : ''}`}
    >
      <Hourglass aria-hidden size={12} />
      {leftMs > 0 ? inbox.windowLeft(formatSpan(leftMs)) : inbox.windowClosed}
    </span>
  );
}
