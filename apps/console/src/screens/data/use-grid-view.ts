import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { EntityList } from './entity-list';
import { type GridSize, type Position, type Range, rangeOf } from './grid-keys';

const rowPx = 36;
const headPx = 32;

/** The visible rows of a grid, and its cursor. */
export interface GridView {
  scroller: RefObject<HTMLDivElement | null>;
  items: { index: number; start: number; key: React.Key }[];
  heightPx: number;
  cursor: Position;
  /** The marked cells: from the anchor to the cursor. */
  range: Range;
  isMarked: boolean;
  size: GridSize;
  /** Moves the cursor and the focus. `isExtended` marks the cells in between. */
  go: (to: Position, isExtended?: boolean) => void;
  unmark: () => void;
  /** The cell of the cursor gets the focus after the next render. */
  focus: () => void;
}

/** `isEditing`: the editor has the focus. */
export function useGridView(list: EntityList, columns: number, isEditing: boolean): GridView {
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<Position>({ row: 0, column: 1 });
  const [anchor, setAnchor] = useState<Position | null>(null);
  const cursorId = useRef<string | undefined>(undefined);
  const wantsFocus = useRef(false);
  const { count } = list;
  const rows = useVirtualizer({
    count,
    paddingStart: headPx,
    scrollPaddingStart: headPx,
    overscan: 10,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    // The row with the cursor keeps the focus while it is out of sight.
    rangeExtractor: (range) => {
      const visible = defaultRangeExtractor(range);
      return cursor.row < 0 || cursor.row >= count || visible.includes(cursor.row)
        ? visible
        : [...visible, cursor.row];
    },
  });
  const { startIndex, endIndex } = rows.range ?? { startIndex: 0, endIndex: 0 };
  const version = list.version();
  useEffect(() => list.show(startIndex, endIndex), [list, version, startIndex, endIndex]);

  // The cursor stays on its entity when rows are added or removed before it.
  useEffect(() => {
    const known = cursorId.current;
    const here = list.at(cursor.row)?.id;
    const moved =
      known !== undefined && here !== undefined && here !== known ? list.indexOf(known) : -1;
    if (moved >= 0) return setCursor((at) => ({ ...at, row: moved }));
    if (here !== undefined) cursorId.current = here;
    if (count > 0 && cursor.row >= count) setCursor((at) => ({ ...at, row: count - 1 }));
    // The cursor itself is moved by `go`, which names its entity.
  }, [version]);

  const go = (to: Position, isExtended = false) => {
    setAnchor(isExtended ? (anchor ?? cursor) : null);
    setCursor(to);
    cursorId.current = list.at(to.row)?.id;
    wantsFocus.current = true;
    if (to.row >= 0) rows.scrollToIndex(to.row);
  };
  useEffect(() => {
    if (!wantsFocus.current || isEditing) return;
    const place = `[data-row="${cursor.row}"][data-column="${cursor.column}"]`;
    const cell = scroller.current?.querySelector<HTMLElement>(place);
    if (!cell) return;
    wantsFocus.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return {
    scroller,
    items: rows.getVirtualItems(),
    heightPx: rows.getTotalSize(),
    cursor,
    go,
    range: rangeOf(anchor ?? cursor, cursor),
    isMarked: anchor !== null,
    unmark: () => setAnchor(null),
    size: { rows: count, columns, page: Math.max(1, endIndex - startIndex - 1) },
    focus: () => void (wantsFocus.current = true),
  };
}
