import type { ResultOf } from '@parley/client/manage';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, PanelRight } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { meQuery, messageOf } from '../../api/session';
import { useKeys } from '../../frame/keys';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatDuration, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { useTick } from '../../parts/time';
import { Composer } from './composer';
import { Details } from './details';
import { Messages } from './messages';
import { useOutbox } from './outbox';
import { conversationsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/conversations/$threadId');
export type Thread = ResultOf<'getThread'>;
const presenceMs = 30_000;

export function Conversation() {
  const { threadId } = route.useParams();
  const { api, key } = useWorkspace();
  const thread = useQuery({
    queryKey: [...key, 'thread', threadId, 'head'],
    queryFn: ({ signal }) => api.getThread({ id: threadId }, { signal }),
    refetchInterval: 3_000,
  });
  const { data: me } = useQuery(meQuery);
  if (thread.isPending || !me) return <Skeleton />;
  if (thread.data === undefined) return <Failure error={thread.error} onRetry={() => thread.refetch()} />;
  return <OpenThread key={thread.data.id} thread={thread.data} personId={me.person.id} />;
}

function OpenThread({ thread, personId }: { thread: Thread; personId: string }) {
  const conversations = useTexts(conversationsCatalog);
  const workspace = useWorkspace();
  const { api, key } = workspace;
  const place = usePlace();
  const client = useQueryClient();
  const { outbox, items } = useOutbox(workspace, thread.id, personId);
  const [isHandingBack, setHandingBack] = useState(false);
  const [isDetailed, setDetailed] = useState(false);
  const [lastMessageId, setLastMessageId] = useState<string>();
  const writer = useRef<HTMLTextAreaElement>(null);
  const isMine = thread.state === 'human' && thread.takenOverBy?.id === personId;
  const refresh = () => client.invalidateQueries({ queryKey: [...key, 'thread', thread.id] });
  const takeOver = useMutation({ mutationFn: () => api.takeOverThread({ id: thread.id }), onSettled: refresh });
  const change = useMutation({
    mutationFn: (status: 'open' | 'closed') => api.changeThread({ id: thread.id, status }),
    onSettled: refresh,
  });
  useKeys({
    t: () => (isMine ? false : takeOver.mutate()),
    r: () => writer.current?.focus(),
    e: () => (thread.state === 'human' ? setHandingBack(true) : false),
  });

  const name = thread.contactName ?? thread.externalId ?? conversations.unnamed;
  useEffect(() => {
    document.title = `${name} · Parley`;
  }, [name]);
  useEffect(() => {
    const say = (isOpen: boolean) => void api.visitThread({ id: thread.id, isOpen }).catch(() => undefined);
    say(true);
    const timer = setInterval(() => document.visibilityState === 'visible' && say(true), presenceMs);
    return () => (clearInterval(timer), say(false));
  }, [api, thread.id]);
  useEffect(() => {
    if (!thread.isUnread || document.visibilityState !== 'visible') return;
    void api.readThread({ id: thread.id }).then(
      () => client.invalidateQueries({ queryKey: [...key, 'threads'] }),
      () => undefined,
    );
  }, [api, client, key, thread.id, thread.isUnread, thread.lastMessageAt, document.visibilityState]);

  const others = thread.visitors.filter(({ id }) => id !== personId).map((visitor) => visitor.name);
  const failed = takeOver.error ?? change.error;
  return (
    <div className="flex h-full min-w-0">
      <section aria-label={name} className="flex min-w-0 flex-1 flex-col">
        <header className="flex min-h-12 flex-wrap items-center gap-x-2 gap-y-1 border-b border-n5 px-3 py-2">
          <Link
            to="/$organization/$environment/conversations"
            params={place}
            search={(before) => before as never}
            aria-label={conversations.title}
            className="tap inline-flex h-8 w-8 items-center justify-center rounded hover:bg-n4 md:hidden"
          >
            <ArrowLeft aria-hidden size={16} />
          </Link>
          <div className="min-w-0 flex-1">
            <h2 className="truncate text-lg font-semibold">{name}</h2>
            <p className="truncate text-xs text-n11">
              {thread.channel}
              <Window thread={thread} />
            </p>
          </div>
          {isMine ? (
            <Button onClick={() => setHandingBack(true)}>{conversations.handBack}</Button>
          ) : (
            <Button isBusy={takeOver.isPending} onClick={() => takeOver.mutate()}>
              {conversations.takeOver}
            </Button>
          )}
          <Button
            look="quiet"
            onClick={() => change.mutate(thread.status === 'open' ? 'closed' : 'open')}
            className="max-sm:hidden"
          >
            {thread.status === 'open' ? conversations.close : conversations.reopen}
          </Button>
          <Button
            look="quiet"
            icon={PanelRight}
            label={conversations.details}
            className="xl:hidden"
            onClick={() => setDetailed(true)}
          />
        </header>
        <div className="space-y-1 px-3 pt-2 empty:hidden">
          {failed && <Notice kind="failed">{messageOf(failed)}</Notice>}
          {thread.state === 'waiting' && (
            <Notice>
              {thread.waitingReason ? conversations.waits(thread.waitingReason) : conversations.waitsWithoutReason}
            </Notice>
          )}
          {others.length > 0 && <Notice kind="person">{conversations.alsoHere(others.join(', '))}</Notice>}
        </div>
        <Messages thread={thread} personId={personId} outgoing={items} outbox={outbox} onLast={setLastMessageId} />
        <Composer
          thread={thread}
          personId={personId}
          writer={writer}
          lastMessageId={lastMessageId}
          onSend={(item) => outbox.send(item)}
        />
      </section>
      <aside
        aria-label={conversations.details}
        className="hidden w-72 shrink-0 overflow-auto border-l border-n5 xl:block"
      >
        <Details thread={thread} />
      </aside>
      {isDetailed && (
        <Dialog title={name} onClose={() => setDetailed(false)}>
          <Details thread={thread} />
        </Dialog>
      )}
      {isHandingBack && <HandBack thread={thread} onClose={() => setHandingBack(false)} />}
    </div>
  );
}

/** How long WhatsApp takes replies that are no templates. */
function Window({ thread }: { thread: Thread }) {
  const texts = useTexts();
  const conversations = useTexts(conversationsCatalog);
  useTick(30_000);
  if (thread.channel !== 'whatsapp') return null;
  const leftMs = (thread.windowEndsAt ?? 0) - Date.now();
  return (
    <>
      {' '}
      ·{' '}
      {leftMs > 0
        ? conversations.windowLeft(formatDuration(Math.ceil(leftMs / 60_000) * 60_000, texts).replace(/ 0 s$/, ''))
        : conversations.windowClosed}
    </>
  );
}

function HandBack({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const conversations = useTexts(conversationsCatalog);
  const { states } = useTexts();
  const { api, key } = useWorkspace();
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: (note: string) => api.resumeThread({ id: thread.id, ...(note && { note }) }),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: [...key, 'thread', thread.id] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    resume.mutate(String(new FormData(event.currentTarget).get('note') ?? '').trim());
  };
  return (
    <Dialog title={conversations.handBackTitle} onClose={onClose}>
      <form onSubmit={submit} className="space-y-3">
        <label className="block">
          <span className="mb-1 block text-n11">{conversations.handBackNote}</span>
          <textarea
            name="note"
            rows={4}
            autoFocus
            maxLength={4_000}
            className="w-full rounded border border-n8 bg-n1 p-2"
          />
        </label>
        {resume.error && <Notice kind="failed">{messageOf(resume.error)}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          <Button type="submit" look="primary" isBusy={resume.isPending}>
            {conversations.handBack}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
