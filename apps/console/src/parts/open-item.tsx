import { type ReactNode, useEffect } from 'react';
import { useTexts } from '../i18n';
import { Dialog } from './dialog';
import type { usePages } from './pages';
import { Failure, Skeleton } from './states';

interface OpenItemProps<Item> {
  /** The item of the address. */
  id: string;
  list: ReturnType<typeof usePages<Item>>;
  keyOf: (item: Item) => string;
  title: (item: Item) => string;
  onClose: () => void;
  wide?: boolean;
  children: (item: Item) => ReactNode;
}

/** One item of a list, in a dialog. The pages of the list are loaded until it is found. */
export function OpenItem<Item>({ id, list, keyOf, title, onClose, wide, children }: OpenItemProps<Item>) {
  const { states } = useTexts();
  const { items, hasNextPage, isFetching, isError, fetchNextPage } = list;
  const item = items.find((one) => keyOf(one) === id);
  const isSought = item === undefined && !isError && (hasNextPage || list.isPending);
  useEffect(() => {
    if (isSought && hasNextPage && !isFetching) void fetchNextPage();
  }, [isSought, hasNextPage, isFetching, fetchNextPage]);
  // The screen says why there is no list.
  if (isError && items.length === 0) return null;
  return (
    <Dialog title={item ? title(item) : isSought ? states.loading : states.notFoundTitle} onClose={onClose} wide={wide}>
      {item ? (
        children(item)
      ) : isSought ? (
        <Skeleton />
      ) : isError ? (
        <Failure error={list.error} onRetry={() => list.refetch()} />
      ) : (
        <p className="text-n11">{states.notFound}</p>
      )}
    </Dialog>
  );
}
