import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useCanGoBack, useNavigate, useRouter } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { meQuery } from '../../api/session';
import { useChange } from '../../api/use-change';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Failure, Problem, Skeleton } from '../../parts/states';
import { Composer, useDraft } from './composer';
import { ContactCard } from './contact-card';
import { HandBack } from './hand-back';
import { Messages } from './messages';
import { type Thread, nameOf } from './names';
import type { Outgoing } from './outbox';
import { conversationsCatalog } from './texts';
import { ThreadHead, ThreadNotices } from './thread-head';
import { usePresence, useReadMark } from './use-presence';
import { useSwipeBack } from './use-swipe-back';
import { useOutbox } from './use-outbox';

const list = '/$organization/$environment/conversations';
const route = getRouteApi(`${list}/$threadId`);

export function Conversation() {
  const { threadId } = route.useParams();
  const { api, key } = useWorkspace();
  const thread = useQuery({
    queryKey: [...key, 'thread', threadId, 'head'],
    queryFn: ({ signal }) => api.getThread({ id: threadId }, { signal }),
    refetchInterval: 2_500,
  });
  const { data: me } = useQuery(meQuery);
  if (thread.data !== undefined && me)
    return <OpenThread key={thread.data.id} thread={thread.data} personId={me.person.id} />;
  return (
    <div className="flex h-full flex-col">
      <p className="p-2 md:hidden">
        <BackButton />
      </p>
      {thread.isPending ? (
        <Skeleton />
      ) : (
        <Failure error={thread.error} onRetry={() => thread.refetch()} />
      )}
    </div>
  );
}

/**
 * Leads back as the browser does, so that the list keeps its place; from a link to the
 * thread, to the list.
 */
function useBack(): () => void {
  const { history } = useRouter();
  const canGoBack = useCanGoBack();
  const navigate = useNavigate();
  const params = route.useParams();
  const { contact } = route.useSearch();
  return () => {
    if (canGoBack) return history.back();
    void navigate({
      ...(contact ? { to: `${list}/$threadId`, params } : { to: list, params }),
      search: (before) => ({ ...before, contact: undefined }) as never,
      replace: true,
    });
  };
}

function BackButton() {
  const conversations = useTexts(conversationsCatalog);
  return (
    <Button look="quiet" icon={ArrowLeft} label={conversations.backToList} onClick={useBack()} />
  );
}

function OpenThread({ thread, personId }: { thread: Thread; personId: string }) {
  const conversations = useTexts(conversationsCatalog);
  const workspace = useWorkspace();
  const { api } = workspace;
  const { contact: isContactShown = false } = route.useSearch();
  const back = useBack();
  const { outbox, items } = useOutbox(workspace, thread.id, personId);
  const draft = useDraft(thread.id, personId);
  const [isHandingBack, setHandingBack] = useState(false);
  const [lastMessageId, setLastMessageId] = useState<string>();
  const writer = useRef<HTMLTextAreaElement>(null);
  const page = useRef<HTMLDivElement>(null);
  const isSending = items.some(
    ({ kind, error, storedId }) => kind === 'reply' && error === null && storedId === null,
  );
  const isMine = thread.state === 'human' && thread.takenOverBy?.id === personId;
  const changed = ['thread', 'threads', 'thread-counts'];
  const takeOver = useChange(() => api.takeOverThread({ id: thread.id }), ...changed);
  const change = useChange(
    (status: 'open' | 'closed') => api.changeThread({ id: thread.id, status }),
    ...changed,
  );
  useKeys({
    t: () => (isMine ? false : takeOver.mutate()),
    r: () => writer.current?.focus(),
    Escape: () => (isContactShown ? back() : false),
    e: () => (thread.state === 'agent' ? false : setHandingBack(true)),
  });
  useSwipeBack(page, back);
  const onTyping = usePresence(thread.id);
  useReadMark(thread);
  const name = nameOf(thread) ?? conversations.unnamed;
  useEffect(() => {
    document.title = `${name} · Parley`;
  }, [name]);
  const edit = (item: Outgoing) => {
    outbox.discard(item.key);
    draft.writeNote(item.kind === 'note');
    draft.write([draft.text, item.body.text].filter(Boolean).join('\n'));
    writer.current?.focus();
  };
  return (
    <div ref={page} className="flex h-full min-w-0">
      <section
        aria-label={name}
        className={`flex min-w-0 flex-1 flex-col ${isContactShown ? 'max-xl:hidden' : ''}`}
      >
        <ThreadHead
          thread={thread}
          isMine={isMine}
          isSending={isSending}
          isTakingOver={takeOver.isPending}
          onBack={back}
          onTakeOver={() => takeOver.mutate()}
          onHandBack={() => setHandingBack(true)}
          onStatus={(status) => change.mutate(status)}
        />
        <div className="px-3 pt-2 empty:hidden">
          <Problem error={takeOver.error ?? change.error} />
        </div>
        <ThreadNotices thread={thread} personId={personId} />
        <Messages
          thread={thread}
          personId={personId}
          outbox={outbox}
          outgoing={items}
          onLast={setLastMessageId}
          onEdit={edit}
        />
        <Composer
          thread={thread}
          personId={personId}
          writer={writer}
          draft={draft}
          lastMessageId={lastMessageId}
          onTyping={onTyping}
          onSend={(item) => outbox.send(item)}
        />
      </section>
      <aside
        aria-label={conversations.details}
        className={`w-full shrink-0 flex-col border-l border-n5 xl:flex xl:w-80 ${isContactShown ? 'flex' : 'hidden'}`}
      >
        <header className="flex min-h-12 shrink-0 items-center gap-1 border-b border-n5 px-2 xl:hidden">
          <Button look="quiet" icon={ArrowLeft} label={conversations.backToThread} onClick={back} />
          <h2 className="truncate text-lg font-semibold">{name}</h2>
        </header>
        <div className="min-h-0 flex-1 overflow-auto">
          <ContactCard thread={thread} />
        </div>
      </aside>
      {isHandingBack && (
        <HandBack
          threadId={thread.id}
          personId={personId}
          isSending={isSending}
          onClose={() => setHandingBack(false)}
        />
      )}
    </div>
  );
}
