import type { InputOf, ResultOf } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, getRouteApi, useMatch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useThreadCounts } from '../../api/queries';
import { meQuery } from '../../api/session';
import { useKeys } from '../../frame/keys';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button, Choice, Tabs, Toggle, tabLook } from '../../parts/controls';
import { Rows, usePages } from '../../parts/pages';
import { ScreenHead } from '../../parts/screen-head';
import { SearchBox } from '../../parts/search-box';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { conversationsCatalog } from './texts';
import { homeCatalog } from '../home/texts';

const route = getRouteApi('/$organization/$environment/conversations');
const threadRoute = '/$organization/$environment/conversations/$threadId';
export type ListedThread = ResultOf<'listThreads'>['data'][number];

const views = ['waiting', 'mine', 'open', 'closed', 'all'] as const;
type View = (typeof views)[number];

function inputOf(view: View, personId: string): InputOf<'listThreads'> {
  if (view === 'waiting') return { state: 'waiting', status: 'open' };
  if (view === 'mine') return { assignee: personId, status: 'open' };
  return view === 'all' ? {} : { status: view };
}

export function Conversations() {
  const { states } = useTexts();
  const conversations = useTexts(conversationsCatalog);
  const home = useTexts(homeCatalog);
  const { api, key } = useWorkspace();
  const { data: me } = useQuery(meQuery);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const openThread = useMatch({ from: threadRoute, shouldThrow: false })?.params.threadId;
  const view = views.find((one) => one === search.view) ?? 'open';
  const input = {
    ...inputOf(view, me?.person.id ?? ''),
    q: search.q,
    channel: search.channel,
    agent: search.agent,
    unread: search.unread ? ('true' as const) : undefined,
  };
  const list = usePages(
    [...key, 'threads', input],
    (cursor, signal) => api.listThreads({ ...input, cursor }, { signal }),
    { refetchInterval: 4_000 },
  );
  const { data: counts } = useThreadCounts();
  const searchBox = useRef<HTMLInputElement>(null);
  const at = list.items.findIndex(({ id }) => id === openThread);
  const open = (thread: ListedThread | undefined) =>
    thread &&
    void navigate({
      to: threadRoute,
      params: (before) => ({ ...before, threadId: thread.id }),
      search: (before) => before,
      replace: openThread !== undefined,
    });
  useKeys({
    j: () => open(list.items[Math.min(at + 1, list.items.length - 1)]),
    k: () => open(list.items[Math.max(at - 1, 0)]),
    '/': () => searchBox.current?.focus(),
    Escape: () =>
      openThread === undefined
        ? false
        : void navigate({ to: '/$organization/$environment/conversations', search: (before) => before }),
  });
  const shownCount = { waiting: counts?.waiting, mine: counts?.mine } as Partial<Record<View, number>>;
  const isFiltered = [search.q, search.channel, search.agent, search.unread].some((value) => value !== undefined);
  return (
    <div className="flex h-full">
      <section
        aria-label={conversations.title}
        className={`flex w-full min-w-0 flex-col border-r border-n5 md:w-80 md:shrink-0 ${openThread === undefined ? '' : 'max-md:hidden'}`}
      >
        <ScreenHead title={conversations.title}>
          <Toggle
            label={conversations.unread}
            isOn={search.unread === true}
            onChange={(unread) =>
              void navigate({ search: (before) => ({ ...before, unread: unread || undefined }), replace: true })
            }
          />
        </ScreenHead>
        <div className="space-y-2 border-b border-n5 px-2 py-2">
          <Tabs label={conversations.title}>
            {views.map((one) => (
              <Link
                key={one}
                from={route.id}
                to="."
                search={(before) => ({ ...before, view: one === 'open' ? undefined : one })}
                aria-current={one === view ? 'page' : undefined}
                className={tabLook(one === view)}
              >
                {conversations.views[one]}
                {shownCount[one] ? (
                  <span className="text-n11 tabular-nums">
                    {shownCount[one] >= 1_000 ? home.atLeast('1000') : formatNumber(shownCount[one])}
                  </span>
                ) : null}
              </Link>
            ))}
          </Tabs>
          <div className="flex flex-wrap gap-2">
            {search.agent !== undefined && (
              <Toggle
                label={search.agent}
                isOn
                onChange={() => void navigate({ search: (before) => ({ ...before, agent: undefined }), replace: true })}
              />
            )}
            <SearchBox
              box={searchBox}
              value={search.q ?? ''}
              onChange={(q) => void navigate({ search: (before) => ({ ...before, q: q || undefined }), replace: true })}
              label={conversations.search}
            />
            <Choice
              label={conversations.channel}
              value={search.channel ?? ''}
              onChange={({ target }) =>
                void navigate({
                  search: (before) => ({ ...before, channel: target.value || undefined }),
                  replace: true,
                })
              }
              options={[
                ['', conversations.anyChannel],
                ...['whatsapp', 'widget', 'api', 'dashboard'].map((one) => [one, one] as const),
              ]}
            />
          </div>
        </div>
        <div className="min-h-0 flex-1">
          <Rows
            list={list}
            rowPx={64}
            label={conversations.title}
            keyOf={({ id }) => id}
            current={at}
            render={(thread) => <ThreadRow thread={thread} isOpen={thread.id === openThread} />}
            empty={
              isFiltered || view !== 'open' ? (
                <Empty title={conversations.emptyFilter}>
                  <Button onClick={() => void navigate({ search: {}, replace: true })}>{states.clearFilters}</Button>
                </Empty>
              ) : (
                <Empty title={conversations.emptyTitle}>{conversations.empty}</Empty>
              )
            }
          />
        </div>
      </section>
      <div className={`min-w-0 flex-1 ${openThread === undefined ? 'max-md:hidden' : ''}`}>
        {openThread === undefined ? <Empty title={conversations.choose} /> : <Outlet />}
      </div>
    </div>
  );
}

function ThreadRow({ thread, isOpen }: { thread: ListedThread; isOpen: boolean }) {
  const conversations = useTexts(conversationsCatalog);
  const place = usePlace();
  const {
    contactName,
    externalId,
    state,
    takenOverBy,
    waitingReason,
    waitingSince,
    lastInput,
    lastMessageAt,
    isUnread,
  } = thread;
  const isWaiting = state === 'waiting';
  return (
    <Link
      to={threadRoute}
      params={{ ...place, threadId: thread.id }}
      search={(before) => before as never}
      className={`flex h-full flex-col justify-center gap-0.5 border-b border-n4 px-3 ${isOpen ? 'bg-n4' : 'hover:bg-n2'}`}
    >
      <span className="flex items-baseline gap-2">
        {isUnread && (
          <span title={conversations.unread} className="size-2 shrink-0 self-center rounded-full bg-accent" />
        )}
        <span className={`min-w-0 flex-1 truncate ${isUnread ? 'font-semibold' : 'font-medium'}`}>
          {contactName ?? externalId ?? conversations.unnamed}
        </span>
        <Ago at={waitingSince ?? lastMessageAt} className="shrink-0 text-xs text-n11" />
      </span>
      <span className="flex gap-2 text-n11">
        <span className={`min-w-0 flex-1 truncate ${isWaiting ? 'text-waiting' : ''}`}>
          {isWaiting && waitingReason ? waitingReason : lastInput}
        </span>
        {state !== 'agent' && (
          <span className={`shrink-0 text-xs ${isWaiting ? 'text-waiting' : 'text-person'}`}>
            {isWaiting ? conversations.state.waiting : (takenOverBy?.name ?? conversations.state.human)}
          </span>
        )}
      </span>
    </Link>
  );
}
