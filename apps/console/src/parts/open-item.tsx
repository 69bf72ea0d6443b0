import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n';
import { TextLink } from './link';
import type { usePages } from './pages';
import { Empty, Failure, Skeleton } from './states';

interface OpenItemProps<Item> {
  list: ReturnType<typeof usePages<Item>>;
  is: (item: Item) => boolean;
  back: LinkProps;
  children: (item: Item) => ReactNode;
}

/** The open item of a list, once the list is loaded. */
export function OpenItem<Item>({ list, is, back, children }: OpenItemProps<Item>) {
  const { states } = useTexts();
  const item = list.items.find(is);
  if (item !== undefined) return children(item);
  if (list.isPending) return <Skeleton rows={10} />;
  if (list.isError) return <Failure error={list.error} onRetry={() => list.refetch()} />;
  return (
    <Empty title={states.notFoundTitle}>
      <p>{states.notFound}</p>
      <TextLink {...back}>{states.backToList}</TextLink>
    </Empty>
  );
}
