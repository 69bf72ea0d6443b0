import { type ReactNode, useEffect } from 'react';
import { useOpen } from '../frame/open';
import { useWorkspace } from '../frame/workspace';
import { useTexts } from '../i18n';
import { Button } from './controls';
import { Dialog } from './dialog';
import { ListScreen, type ListScreenProps } from './list-screen';
import type { usePages } from './pages';
import { Failure, Skeleton } from './states';

interface ItemDialogProps<Item> {
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
function ItemDialog<Item>({
  id,
  list,
  keyOf,
  title,
  onClose,
  wide,
  children,
}: ItemDialogProps<Item>) {
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
    <Dialog
      title={item ? title(item) : isSought ? states.loading : states.notFoundTitle}
      onClose={onClose}
      wide={wide}
    >
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

interface ListWithDialogsProps<Item> extends Omit<ListScreenProps<Item>, 'linkOf'> {
  itemTitle: (item: Item) => string;
  details: (item: Item, close: () => void) => ReactNode;
  isWide?: boolean;
  /** The button with which an admin adds an item, and the dialog that it opens. */
  add?: { text: string; dialog: (close: () => void) => ReactNode };
}

/** A list whose items are shown in dialogs. The address names the open one. */
export function ListWithDialogs<Item>(props: ListWithDialogsProps<Item>) {
  const { itemTitle, details, isWide, add, children, ...screen } = props;
  const { list, keyOf } = screen;
  const { isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const mayAdd = add !== undefined && isAdmin;
  return (
    <>
      <ListScreen {...screen} linkOf={(item) => linkOf(keyOf(item))}>
        {children}
        {mayAdd && (
          <Button look="primary" className="ml-auto" onClick={() => show('new')}>
            {add.text}
          </Button>
        )}
      </ListScreen>
      {mayAdd && open === 'new'
        ? add.dialog(close)
        : open !== undefined && (
            <ItemDialog
              id={open}
              list={list}
              keyOf={keyOf}
              title={itemTitle}
              onClose={close}
              wide={isWide}
            >
              {(item) => details(item, close)}
            </ItemDialog>
          )}
    </>
  );
}
