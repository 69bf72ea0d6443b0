import { useNavigate } from '@tanstack/react-router';
import { ArrowLeft, CircleCheck, RotateCcw, UserRound } from 'lucide-react';
import { formatAgo, formatSpan, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Notice } from '../../parts/states';
import { useTick } from '../../parts/time';
import { type Thread, nameOf } from './names';
import { conversationsCatalog } from './texts';

interface ThreadHeadProps {
  thread: Thread;
  isMine: boolean;
  /** A reply that is stored later would open the conversation again. */
  isSending: boolean;
  isTakingOver: boolean;
  onBack: () => void;
  onTakeOver: () => void;
  onHandBack: () => void;
  onStatus: (status: 'open' | 'closed') => void;
}

/** Who writes, how long a reply may be written, and who answers. */
export function ThreadHead({
  thread,
  isMine,
  isSending,
  isTakingOver,
  onBack,
  onTakeOver,
  onHandBack,
  onStatus,
}: ThreadHeadProps) {
  const conversations = useTexts(conversationsCatalog);
  const navigate = useNavigate({ from: '/$organization/$environment/conversations/$threadId' });
  const name = nameOf(thread) ?? conversations.unnamed;
  const isOpen = thread.status === 'open';
  const showContact = () =>
    void navigate({ to: '.', search: (before) => ({ ...before, contact: true }) });
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-1 border-b border-n5 px-2 py-1 md:gap-2 md:px-3">
      <Button
        look="quiet"
        icon={ArrowLeft}
        label={conversations.backToList}
        className="md:hidden"
        onClick={onBack}
      />
      <div className="min-w-0 flex-1">
        <h2 className="truncate text-lg font-semibold">{name}</h2>
        <p className="truncate text-xs text-n11">
          {conversations.channels[thread.channel] ?? thread.channel}
          <Window thread={thread} />
        </p>
      </div>
      {isMine ? (
        <Button onClick={onHandBack}>{conversations.handBack}</Button>
      ) : (
        <Button
          look={thread.state === 'waiting' ? 'primary' : 'plain'}
          isBusy={isTakingOver}
          onClick={onTakeOver}
        >
          {conversations.takeOver}
        </Button>
      )}
      <Button
        look="quiet"
        icon={isOpen ? CircleCheck : RotateCcw}
        label={isOpen ? conversations.close : conversations.reopen}
        isBusy={isOpen && isSending}
        onClick={() => onStatus(isOpen ? 'closed' : 'open')}
      />
      <Button
        look="quiet"
        icon={UserRound}
        label={conversations.details}
        className="xl:hidden"
        onClick={showContact}
      />
    </header>
  );
}

/** How long WhatsApp takes replies that are no templates. */
function Window({ thread }: { thread: Thread }) {
  const conversations = useTexts(conversationsCatalog);
  useTick(30_000);
  if (thread.channel !== 'whatsapp') return null;
  const leftMs = (thread.windowEndsAt ?? 0) - Date.now();
  return (
    <span className={leftMs > 0 ? '' : 'text-waiting'}>
      {' · '}
      {leftMs > 0 ? conversations.windowLeft(formatSpan(leftMs)) : conversations.windowClosed}
    </span>
  );
}

/** What a person should know before answering: that someone waits, and that a colleague is here. */
export function ThreadNotices({ thread, personId }: { thread: Thread; personId: string }) {
  const conversations = useTexts(conversationsCatalog);
  const others = thread.visitors.filter(({ id }) => id !== personId);
  const typing = others.filter(({ isTyping }) => isTyping);
  const present = others.filter(({ isTyping }) => !isTyping);
  useTick(15_000);
  return (
    <div className="space-y-1 px-3 pt-2 empty:hidden">
      {thread.state === 'waiting' && (
        <Notice>
          {thread.waitingReason
            ? conversations.waits(thread.waitingReason)
            : conversations.waitsWithoutReason}
          {thread.waitingSince !== null && <span>{formatAgo(thread.waitingSince)}</span>}
        </Notice>
      )}
      {thread.state === 'human' && thread.resumesAt !== null && (
        <Notice kind="person">{conversations.resumesAt(formatAgo(thread.resumesAt))}</Notice>
      )}
      {others.length > 0 && (
        <div role="status">
          <Notice kind="person">
            {typing.map(({ id, name }) => (
              <span key={id}>{conversations.isTyping(name)}</span>
            ))}
            {present.length > 0 && (
              <span>{conversations.alsoHere(present.map(({ name }) => name).join(', '))}</span>
            )}
          </Notice>
        </div>
      )}
    </div>
  );
}
