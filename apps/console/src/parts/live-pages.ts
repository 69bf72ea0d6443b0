import type { Page } from '@parley/client/manage';
import { type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

interface Head<Item> {
  items: Item[];
  /** Leads to what is older than the head; null when nothing is. */
  cursor: string | null;
}

/** The parameter of a page names the page before it, so that a page which was left can be loaded again. */
interface Place {
  cursor: string;
  newer: Place | null;
}

interface LivePagesOptions<Item> {
  idOf: (item: Item) => string;
  /** Interval in which the newest page is loaded again. */
  everyMs: number;
  /** Older pages that are held; those at the other end are left. Default: all. */
  maxPages?: number;
  enabled?: boolean;
}

/**
 * A list, newest first, whose newest page is loaded again and again, and whose older pages are loaded once. What the newest page
 * had before stays above the older ones, so there is no gap.
 */
export function useLivePages<Item>(
  queryKey: QueryKey,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  { idOf, everyMs, maxPages, enabled = true }: LivePagesOptions<Item>,
) {
  const cache = useQueryClient();
  const [visit, setVisit] = useState(0);
  const headKey = [...queryKey, 'head'];
  const head = useQuery({
    queryKey: headKey,
    queryFn: async ({ signal }) => merge(cache.getQueryData<Head<Item>>(headKey), await load(undefined, signal), idOf),
    refetchInterval: everyMs,
    enabled,
  });
  const begin = head.data?.cursor ?? null;
  const [isWanted, setWanted] = useState(false);
  const older = useInfiniteQuery({
    queryKey: [...queryKey, 'older', begin, visit],
    queryFn: ({ pageParam, signal }) => load(pageParam.cursor, signal),
    initialPageParam: { cursor: begin ?? '', newer: null } as Place,
    getNextPageParam: (page, _pages, place): Place | undefined =>
      page.hasMore ? { cursor: page.cursor, newer: place } : undefined,
    getPreviousPageParam: (_page, _pages, place) => place.newer ?? undefined,
    maxPages,
    staleTime: Infinity,
    enabled: enabled && begin !== null && isWanted,
  });
  const items = useMemo(() => {
    const [place] = (older.data?.pageParams ?? []) as (Place | undefined)[];
    const isJoined = place === undefined || place.newer === null;
    const newest = isJoined ? (head.data?.items ?? []) : [];
    const known = new Set(newest.map(idOf));
    const pages = older.data?.pages.flatMap((page) => page.data) ?? [];
    return [...newest, ...pages.filter((item) => !known.has(idOf(item)))];
  }, [head.data, older.data, idOf]);
  return {
    items,
    isPending: head.isPending,
    isError: head.isError,
    error: head.error,
    refetch: head.refetch,
    isFetchingNextPage: older.isFetching,
    hasNextPage: begin !== null && (older.data === undefined || older.hasNextPage),
    fetchNextPage: () => (older.data === undefined ? setWanted(true) : void older.fetchNextPage()),
    /** False when the newest page is left, because older ones are shown. */
    isAtNewest: !older.hasPreviousPage,
    fetchNewer: () => void older.fetchPreviousPage(),
    /** Leaves the older pages. */
    showNewest: () => (setWanted(false), setVisit(visit + 1)),
  };
}

/** The newest page before the older part of what was known; the page alone when the two have nothing in common. */
function merge<Item>(before: Head<Item> | undefined, page: Page<Item>, idOf: (item: Item) => string): Head<Item> {
  const fresh = { items: page.data, cursor: page.hasMore ? page.cursor : null };
  if (before === undefined || !page.hasMore) return fresh;
  const at = new Map(before.items.map((item, index) => [idOf(item), index]));
  const common = page.data.findLast((item) => at.has(idOf(item)));
  if (common === undefined) return fresh;
  const newest = new Set(page.data.map(idOf));
  const rest = before.items.slice(at.get(idOf(common))! + 1).filter((item) => !newest.has(idOf(item)));
  return { items: [...page.data, ...rest], cursor: before.cursor };
}
