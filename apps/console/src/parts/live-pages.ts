import type { Page } from '@parley/client/manage';
import { type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type Head, joinPages, mergeHead } from './merge-pages';

/**
 * The parameter of a page names the page before it, so that a page which was left can
 * be loaded again.
 */
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
 * A list, newest first, whose newest page is loaded again and again, and whose older pages are
 * loaded once. What the newest page had before stays above the older ones, so there is no gap.
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
    queryFn: async ({ signal }) =>
      mergeHead(cache.getQueryData<Head<Item>>(headKey), await load(undefined, signal), idOf),
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
    return joinPages(isJoined ? (head.data?.items ?? []) : [], older.data?.pages ?? [], idOf);
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
    showNewest: () => {
      setWanted(false);
      setVisit(visit + 1);
    },
  };
}
