import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useThreadCounts } from '../../api/queries';
import { meQuery } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import { useLivePages } from '../../parts/live-pages';
import { type View, type ViewCount, countsOf, inputOf, viewOf } from './inbox-views';
import type { ListedThread } from './names';

const route = getRouteApi('/$organization/$environment/conversations');
const liveMs = 2_500;
const idOf = ({ id }: ListedThread): string => id;

/** The filters of the address, and how they are changed. A change is no step of the history. */
export function useInboxSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = viewOf(search.view);
  const { channel, agent, assignee, label, unread } = search;
  return {
    search,
    view,
    filterCount: [channel, agent, assignee, label, unread].filter((one) => one !== undefined)
      .length,
    change: (changes: Partial<typeof search>) =>
      void navigate({ to: '.', search: (before) => ({ ...before, ...changes }), replace: true }),
    clear: () => void navigate({ to: '.', search: {}, replace: true }),
  };
}

/** The conversations of the chosen view, those that wait for a person first. */
export function useInbox() {
  const { api, key } = useWorkspace();
  const { data: me } = useQuery(meQuery);
  const { search, view } = useInboxSearch();
  const { q, channel, agent, label } = search;
  const ofView = inputOf(view, me?.person.id ?? '');
  const input: ReturnType<typeof inputOf> = {
    ...ofView,
    q,
    channel,
    agent,
    label,
    assignee: ofView.assignee ?? search.assignee,
    unread: search.unread ? 'true' : undefined,
  };
  const list = useLivePages(
    [...key, 'threads', input],
    (cursor, signal) => api.listThreads({ ...input, cursor }, { signal }),
    { idOf, everyMs: liveMs },
  );
  const hasOthers = view === 'open' || view === 'mine' || view === 'all';
  const waiting = useQuery({
    queryKey: [...key, 'threads', input, 'waiting'],
    queryFn: ({ signal }) =>
      api.listThreads({ ...input, status: 'open', state: 'waiting' }, { signal }),
    refetchInterval: liveMs,
    enabled: hasOthers,
  });
  const first = hasOthers ? waiting.data?.data : undefined;
  const threads = useMemo(() => {
    if (first === undefined) return list.items;
    const isFirst = new Set(first.map(idOf));
    return [...first, ...list.items.filter(({ id }) => !isFirst.has(id))];
  }, [first, list.items]);
  return {
    list: { ...list, isPending: list.isPending || (hasOthers && waiting.isPending) },
    threads,
    input,
    view,
  };
}

/** Numbers of the views that the server counts. */
export function useViewCounts(): Partial<Record<View, ViewCount>> {
  const { data } = useThreadCounts();
  return data === undefined ? {} : countsOf(data);
}
