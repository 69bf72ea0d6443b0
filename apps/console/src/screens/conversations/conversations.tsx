import { useQuery } from '@tanstack/react-query';
import { Outlet, useMatch, useNavigate } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { meQuery } from '../../api/session';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Rows } from '../../parts/pages';
import { ScreenHead } from '../../parts/screen-head';
import { Empty } from '../../parts/states';
import { InboxFilters } from './inbox-filters';
import { inboxCatalog } from './inbox-texts';
import { type ListedThread, nameOf, threadRoute } from './names';
import { runOutboxes } from './use-outbox';
import { conversationsCatalog } from './texts';
import { ThreadRow } from './thread-row';
import { useInbox, useInboxSearch, useViewCounts } from './use-inbox';
import { useSteadyOrder } from './use-steady-order';

const idOf = ({ id }: ListedThread): string => id;
const changedAtOf = ({ lastMessageAt, waitingSince }: ListedThread): number =>
  Math.max(lastMessageAt, waitingSince ?? 0);

export function Conversations() {
  const conversations = useTexts(conversationsCatalog);
  const inbox = useTexts(inboxCatalog);
  const workspace = useWorkspace();
  const { data: me } = useQuery(meQuery);
  const navigate = useNavigate({ from: '/$organization/$environment/conversations' });
  const openThread = useMatch({ from: threadRoute, shouldThrow: false })?.params.threadId;
  const { list, threads, input } = useInbox();
  const { box, hold, isHeld } = useHold();
  const reset = JSON.stringify(input);
  const { items, newCount, apply } = useSteadyOrder(threads, {
    idOf,
    changedAtOf,
    isHeld,
    reset,
  });
  useEffect(() => {
    if (me) runOutboxes(workspace, me.person.id);
  }, [workspace, me]);
  const searchBox = useRef<HTMLInputElement>(null);
  const at = items.findIndex(({ item }) => item.id === openThread);
  const open = (index: number) => {
    const found = items[Math.min(Math.max(index, 0), items.length - 1)];
    if (found === undefined) return false;
    return void navigate({
      to: threadRoute,
      params: (before) => ({ ...before, threadId: found.item.id }),
      search: (before) => ({ ...before, contact: undefined }),
      replace: openThread !== undefined,
    });
  };
  useKeys({
    j: () => open(at + 1),
    k: () => open(at - 1),
    '/': () => searchBox.current?.focus(),
    Escape: () =>
      openThread === undefined
        ? false
        : void navigate({
            to: '/$organization/$environment/conversations',
            search: (before) => before,
          }),
  });
  const labels = useMemo(
    () => [...new Set(threads.flatMap((thread) => thread.labels))].sort(),
    [threads],
  );
  return (
    <div className="flex h-full">
      <section
        ref={box}
        aria-label={conversations.title}
        className={`flex w-full min-w-0 flex-col border-r border-n5 md:w-80 md:shrink-0 xl:w-96 ${openThread === undefined ? '' : 'max-md:hidden'}`}
        {...hold}
        onPointerLeave={(event) => {
          hold.onPointerLeave(event);
          if (event.pointerType === 'mouse') apply();
        }}
      >
        <ScreenHead title={conversations.title}>
          <Total />
        </ScreenHead>
        <InboxFilters searchBox={searchBox} labels={labels} />
        <div className="relative min-h-0 flex-1">
          {newCount > 0 && (
            <p className="pointer-events-none absolute inset-x-0 top-2 z-10 text-center">
              <Button
                look="primary"
                icon={ArrowUp}
                className="pointer-events-auto shadow-float"
                onClick={apply}
              >
                {inbox.newer(newCount)}
              </Button>
            </p>
          )}
          <Rows
            list={{ ...list, items }}
            rowPx={76}
            label={conversations.title}
            keyOf={({ item }) => item.id}
            current={at}
            render={({ item, isGone }) => (
              <ThreadRow
                thread={item}
                isGone={isGone}
                isOpen={item.id === openThread}
                personId={me?.person.id ?? ''}
              />
            )}
            empty={<NoThreads />}
          />
        </div>
        <Announcements key={reset} threads={threads} />
      </section>
      <div className={`min-w-0 flex-1 ${openThread === undefined ? 'max-md:hidden' : ''}`}>
        {openThread === undefined ? <Empty title={conversations.choose} /> : <Outlet />}
      </div>
    </div>
  );
}

function Total() {
  const inbox = useTexts(inboxCatalog);
  const { view } = useInboxSearch();
  const counted = useViewCounts()[view];
  if (counted === undefined) return null;
  return (
    <span className="text-xs text-n10 tabular-nums">
      {inbox.count(formatNumber(counted.count) + (counted.isMore ? '+' : ''))}
    </span>
  );
}

function NoThreads() {
  const { states } = useTexts();
  const inbox = useTexts(inboxCatalog);
  const { view, search, filterCount, change, clear } = useInboxSearch();
  if (filterCount > 0 || search.q !== undefined)
    return (
      <Empty title={inbox.emptyFilter}>
        <Button onClick={clear}>{states.clearFilters}</Button>
      </Empty>
    );
  if (view === 'open' || view === 'all')
    return <Empty title={inbox.emptyTitle}>{inbox.empty}</Empty>;
  return (
    <Empty title={view === 'waiting' ? inbox.emptyWaiting : inbox.emptyFilter}>
      <Button onClick={() => change({ view: undefined })}>{inbox.showOpen}</Button>
    </Empty>
  );
}

/**
 * Whether someone may be about to press a row: the pointer or the focus is in the list, or
 * the screen is one for fingers, which give no sign before they press. A list that is not
 * visible is never held.
 */
function useHold() {
  const box = useRef<HTMLElement>(null);
  const isOver = useRef(false);
  const set = (isIn: boolean) => (event: PointerEvent) => {
    if (event.pointerType === 'mouse') isOver.current = isIn;
  };
  const isHeld = () => {
    const list = box.current;
    if (list === null || list.offsetParent === null || document.visibilityState === 'hidden')
      return false;
    return (
      isOver.current || matchMedia('(hover: none)').matches || list.contains(document.activeElement)
    );
  };
  return { box, hold: { onPointerEnter: set(true), onPointerLeave: set(false) }, isHeld };
}

/** Says politely who has written, to people who do not see the list. */
function Announcements({ threads }: { threads: readonly ListedThread[] }) {
  const inbox = useTexts(inboxCatalog);
  const conversations = useTexts(conversationsCatalog);
  const [said, setSaid] = useState('');
  const latestMs = useRef<number | null>(null);
  useEffect(() => {
    const latest = threads.reduce<ListedThread | null>(
      (found, one) => (found === null || one.lastMessageAt > found.lastMessageAt ? one : found),
      null,
    );
    if (latest === null) return;
    if (latestMs.current !== null && latest.lastMessageAt > latestMs.current && latest.isUnread)
      setSaid(inbox.announce(nameOf(latest) ?? conversations.unnamed));
    latestMs.current = Math.max(latestMs.current ?? 0, latest.lastMessageAt);
  }, [threads, inbox, conversations]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}
