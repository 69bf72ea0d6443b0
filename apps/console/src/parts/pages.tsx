import type { Page } from '@parley/client/manage';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTexts } from '../i18n';
import { Failure, Skeleton } from './states';

/**
 * Pages that a list holds. Without the first ones its rows would move under the person; filters
 * find what is further down.
 */
const maxPages = 200;

/**
 * The pages of a list. A list that is shown again is loaded again page by page, so
 * that it has no gaps.
 */
export function usePages<Item>(
  queryKey: QueryKey,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  { refetchInterval, staleTime }: { refetchInterval?: number; staleTime?: number } = {},
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page, pages) =>
      page.hasMore && pages.length < maxPages ? page.cursor : undefined,
    ...(staleTime !== undefined && { staleTime }),
    refetchInterval: (current) =>
      (current.state.data?.pages.length ?? 0) > 3 ? false : (refetchInterval ?? false),
  });
  return { ...query, items: query.data?.pages.flatMap((page) => page.data) ?? [] };
}

/** The same for a list that the API answers with at once. */
export const useWholeList = <Item,>(
  queryKey: QueryKey,
  load: (signal: AbortSignal) => Promise<{ data: Item[] }>,
  refetchInterval: number,
) =>
  usePages<Item>(
    queryKey,
    async (_, signal) => ({ data: (await load(signal)).data, cursor: '', hasMore: false }),
    {
      refetchInterval,
    },
  );

interface RowsProps<Item> {
  list: Pick<
    ReturnType<typeof usePages<Item>>,
    'items' | 'isPending' | 'isError' | 'error' | 'hasNextPage' | 'isFetchingNextPage'
  > &
    Partial<Pick<ReturnType<typeof usePages<Item>>, 'data'>> & {
      refetch: () => unknown;
      fetchNextPage: () => unknown;
    };
  rowPx: number;
  label: string;
  keyOf: (item: Item) => string;
  render: (item: Item, index: number) => ReactNode;
  empty: ReactNode;
  /** The row that is scrolled to. */
  current?: number;
}

/**
 * The rows of a list, of which only the visible ones are in the page. The next page is
 * loaded near its end.
 */
export function Rows<Item>({ list, rowPx, label, keyOf, render, empty, current }: RowsProps<Item>) {
  const { states } = useTexts();
  const scroller = useRef<HTMLDivElement>(null);
  const { items, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 8,
    getItemKey: (index) => keyOf(items[index]!),
  });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= items.length - 10 && hasNextPage && !isFetchingNextPage && !list.isError)
      fetchNextPage();
  }, [last, items.length, hasNextPage, isFetchingNextPage, fetchNextPage, list.isError]);
  useEffect(() => {
    if (current !== undefined && current >= 0) rows.scrollToIndex(current);
  }, [current, rows]);
  if (list.isPending) return <Skeleton rows={10} />;
  if (list.isError && items.length === 0)
    return <Failure error={list.error} onRetry={() => list.refetch()} />;
  if (items.length === 0) return <>{empty}</>;
  return (
    <div ref={scroller} className="h-full overflow-auto" tabIndex={-1}>
      <ul aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => (
          <li
            key={key}
            className="absolute inset-x-0 top-0"
            style={{ height: rowPx, transform: `translateY(${start}px)` }}
          >
            {render(items[index]!, index)}
          </li>
        ))}
      </ul>
      <p className="px-4 py-2 text-xs text-n10">
        {isFetchingNextPage
          ? `${states.loading}…`
          : list.data?.pages.at(-1)?.hasMore
            ? states.shown(items.length)
            : states.end(items.length)}
      </p>
    </div>
  );
}
