import type { Entity } from '@parley/client';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../frame/keys';
import { copyCells } from './clipboard';
import type { EntityList } from './entity-list';
import type { DataType } from './fields';
import { type GridColumn, GridRow, type RowActions, editText, isInline, valueOf } from './grid-cell';
import { GridFoot } from './grid-foot';
import { GridHead } from './grid-head';
import { type Position, type Range, moveOf, nextStop, rangeOf } from './grid-keys';
import type { DataSearch } from './search';
import type { CellEdits } from './use-cell-edits';
import type { Selection } from './use-selection';

const rowPx = 36;
const headPx = 32;
/** The least width of a column. */
const widthRem = (column: GridColumn): number => {
  if (column.is === 'row') return 4.5;
  if (column.is === 'updated') return 8;
  const { kind, options } = column.field;
  return options || kind === 'boolean' ? 7 : kind === 'number' || kind === 'integer' ? 8 : kind === 'date' ? 10 : 13;
};
/** Cells that one copy takes; more is an export. */
const maxCopyRows = 5_000;

interface GridProps {
  type: DataType;
  list: EntityList;
  total: number | undefined;
  edits: CellEdits;
  selection: Selection;
  search: DataSearch;
  onSort: (sort: Pick<DataSearch, 'sort' | 'direction'>) => void;
  onOpen: (id: string, field?: string) => void;
  /** Cells to change: a pasted text, or empty ones. */
  onPaste: (text: string, at: Range, columns: readonly GridColumn[]) => void;
}

export const columnsOf = ({ fields }: DataType): GridColumn[] => [
  { is: 'row' },
  ...fields.map((field) => ({ is: 'field', field }) as const),
  { is: 'updated' },
];

/** The grid of the entities of a type (WAI-ARIA grid pattern). Only the visible rows are in the page. */
export function Grid({ type, list, total, edits, selection, search, onSort, onOpen, onPaste }: GridProps) {
  const columns = useMemo(() => columnsOf(type), [type]);
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<Position>({ row: 0, column: 1 });
  const [anchor, setAnchor] = useState<Position | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const cursorId = useRef<string | undefined>(undefined);
  /** The cell of the cursor gets the focus after the next render. */
  const wantsFocus = useRef(false);
  /** After Tab has left an editor, Tab moves on; otherwise it leaves the grid. */
  const isEntering = useRef(false);
  const { count } = list;
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    paddingStart: headPx,
    scrollPaddingStart: headPx,
    overscan: 10,
    // The row with the cursor keeps the focus while it is out of sight.
    rangeExtractor: (range) => {
      const visible = defaultRangeExtractor(range);
      return cursor.row < 0 || cursor.row >= count || visible.includes(cursor.row) ? visible : [...visible, cursor.row];
    },
  });
  const items = rows.getVirtualItems();
  const shown = rows.range ?? { startIndex: 0, endIndex: 0 };
  const version = list.version();
  useEffect(() => list.show(shown.startIndex, shown.endIndex), [list, version, shown.startIndex, shown.endIndex]);

  // The cursor stays on its entity when rows are added or removed before it.
  useEffect(() => {
    const known = cursorId.current;
    const here = list.at(cursor.row)?.id;
    if (known !== undefined && here !== undefined && here !== known) {
      const moved = list.indexOf(known);
      if (moved >= 0) return setCursor((at) => ({ ...at, row: moved }));
    }
    if (here !== undefined) cursorId.current = here;
    if (count > 0 && cursor.row >= count) setCursor((at) => ({ ...at, row: count - 1 }));
    // The cursor itself is moved by `go`, which names its entity.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [version]);

  const go = (to: Position, isExtended = false) => {
    setAnchor(isExtended ? (anchor ?? cursor) : null);
    setCursor(to);
    setEditing(null);
    cursorId.current = list.at(to.row)?.id;
    wantsFocus.current = true;
    if (to.row >= 0) rows.scrollToIndex(to.row);
  };
  useEffect(() => {
    if (!wantsFocus.current || editing !== null) return;
    const cell = scroller.current?.querySelector<HTMLElement>(
      `[data-row="${cursor.row}"][data-column="${cursor.column}"]`,
    );
    if (!cell) return;
    wantsFocus.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  const entityAt = (row: number): Entity | undefined => list.at(row);
  const canEdit = (entity: Entity | undefined): entity is Entity => entity !== undefined && entity.status !== 'deleted';
  const begin = ({ row, column }: Position, typed?: string) => {
    const entity = entityAt(row);
    const at = columns[column];
    if (entity === undefined || at === undefined) return;
    if (at.is !== 'field' || !canEdit(entity)) return void (typed === undefined && onOpen(entity.id));
    const { field } = at;
    const value = valueOf(entity, field);
    if (!isInline(field, value)) return void (typed === undefined && onOpen(entity.id, field.name));
    if (field.kind === 'boolean' && field.options === undefined) {
      if (typed === undefined) toggleBoolean({ row, column });
      return;
    }
    const refused = edits.of(entity.id, field.name);
    setEditing(typed ?? refused?.text ?? editText(value));
  };
  const toggleBoolean = ({ row, column }: Position) => {
    const entity = entityAt(row);
    const at = columns[column];
    if (!canEdit(entity) || at?.is !== 'field') return;
    const shown = edits.of(entity.id, at.field.name)?.value ?? valueOf(entity, at.field);
    edits.save(entity, at.field, String(shown !== true));
  };
  const size = { rows: count, columns: columns.length, page: Math.max(1, shown.endIndex - shown.startIndex - 1) };
  const isStop = ({ column }: Position) => columns[column]?.is === 'field';
  const tab = (step: 1 | -1): boolean => {
    const next = nextStop(cursor, step, size, isStop);
    if (next !== null) go(next);
    return next !== null;
  };
  const finish: RowActions['finish'] = (text, move) => {
    const entity = entityAt(cursor.row);
    const at = columns[cursor.column];
    setEditing(null);
    if (text !== null && canEdit(entity) && at?.is === 'field') edits.save(entity, at.field, text);
    isEntering.current = move === 'next' || move === 'previous';
    if (move === 'down') go({ ...cursor, row: Math.min(cursor.row + 1, count - 1) });
    else if (move === 'next' || move === 'previous') tab(move === 'next' ? 1 : -1);
    // A click elsewhere has moved the focus already.
    else wantsFocus.current = text === null;
  };
  const current = useRef({ finish, entityAt, onOpen, selection });
  current.current = { finish, entityAt, onOpen, selection };
  const actions = useMemo<RowActions>(
    () => ({
      finish: (...given) => current.current.finish(...given),
      toggle: (row, isRange) => current.current.selection.toggle(row, isRange),
      open: (row) => {
        const entity = current.current.entityAt(row);
        if (entity) current.current.onOpen(entity.id);
      },
    }),
    [],
  );
  const range = rangeOf(anchor ?? cursor, cursor);

  const escape = (): boolean => {
    const entity = entityAt(cursor.row);
    const at = columns[cursor.column];
    isEntering.current = false;
    if (anchor !== null) setAnchor(null);
    else if (entity && at?.is === 'field' && edits.of(entity.id, at.field.name)?.problem)
      edits.drop(entity.id, at.field.name);
    else return false;
    return true;
  };
  const press = (event: KeyboardEvent): boolean => {
    const isModified = event.ctrlKey || event.metaKey;
    const move = moveOf(event, cursor, size);
    if (move !== null) {
      isEntering.current = false;
      go(move, event.shiftKey && move.row >= 0);
      return true;
    }
    if (event.altKey) return false;
    if (event.key === 'Tab') return isEntering.current && !isModified && tab(event.shiftKey ? -1 : 1);
    if (event.key === 'Escape') return escape();
    // The head has buttons of its own.
    if (cursor.row < 0) return false;
    if (event.key === 'Enter' && isModified) return (actions.open(cursor.row), true);
    if (event.key === 'Enter' || event.key === 'F2') return (begin(cursor), true);
    if (isModified) return false;
    const at = columns[cursor.column];
    if (event.key === ' ' && (event.shiftKey || at?.is === 'row')) return (selection.toggle(cursor.row, false), true);
    if (event.key === ' ' && at?.is === 'field' && at.field.kind === 'boolean') return (toggleBoolean(cursor), true);
    if (event.key === 'Delete' || event.key === 'Backspace') return (clear(), true);
    if (event.key.length === 1) return (begin(cursor, event.key), true);
    return false;
  };
  const clear = () => {
    const entity = entityAt(cursor.row);
    const at = columns[cursor.column];
    if (anchor !== null) onPaste('', range, columns);
    else if (canEdit(entity) && at?.is === 'field') edits.save(entity, at.field, '');
  };
  const onMouseDown = (event: MouseEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>('[data-row]');
    if (!cell || (event.target as Element).closest('input, select, button')) return;
    event.preventDefault();
    isEntering.current = false;
    // An open editor saves when it loses the focus.
    if (editing !== null && document.activeElement instanceof HTMLElement) document.activeElement.blur();
    go({ row: Number(cell.dataset.row), column: Number(cell.dataset.column) }, event.shiftKey);
  };
  useKeys({ j: () => go(cursor), ArrowDown: () => document.activeElement === document.body && go(cursor) });
  const style = {
    '--columns': columns
      .map((column) => (column.is === 'row' ? '4.5rem' : `minmax(${widthRem(column)}rem, ${widthRem(column)}fr)`))
      .join(' '),
    height: rows.getTotalSize(),
    minWidth: `${columns.reduce((sum, column) => sum + widthRem(column), 0)}rem`,
  } as React.CSSProperties;
  return (
    <div className="flex h-full min-w-0 flex-col">
      <div ref={scroller} className="min-h-0 flex-1 scroll-pl-20 overflow-auto">
        <div
          role="grid"
          aria-label={type.name}
          aria-rowcount={total === undefined ? -1 : total + 1}
          aria-colcount={columns.length}
          aria-multiselectable
          className="relative"
          style={style}
          onMouseDown={onMouseDown}
          onDoubleClick={(event) => (event.target as Element).closest('[data-row]') && cursor.row >= 0 && begin(cursor)}
          onKeyDown={(event) => {
            if (editing === null && press(event)) (event.preventDefault(), event.stopPropagation());
          }}
          onCopy={(event) => {
            if (editing !== null || cursor.row < 0) return;
            event.preventDefault();
            const upTo = Math.min(range.rows[1], range.rows[0] + maxCopyRows - 1);
            const copied = { ...range, rows: [range.rows[0], upTo] as const };
            event.clipboardData.setData('text/plain', copyCells(copied, columns, entityAt));
          }}
          onPaste={(event) => {
            if (editing !== null || cursor.row < 0) return;
            event.preventDefault();
            onPaste(event.clipboardData.getData('text/plain'), range, columns);
          }}
        >
          <GridHead
            columns={columns}
            search={search}
            active={cursor}
            selection={selection}
            onSort={onSort}
            onFocus={go}
          />
          {items.map(({ index, start, key }) => {
            const entity = list.at(index);
            const isMarked = anchor !== null && index >= range.rows[0] && index <= range.rows[1];
            return (
              <GridRow
                key={key}
                entity={entity}
                row={index}
                start={start}
                columns={columns}
                active={index === cursor.row ? cursor.column : -1}
                marked={isMarked ? range.columns : null}
                isSelected={entity !== undefined && selection.has(entity.id)}
                isOpen={entity !== undefined && entity.id === search.entity}
                editing={index === cursor.row ? editing : null}
                editOf={edits.of}
                actions={actions}
              />
            );
          })}
        </div>
      </div>
      <GridFoot list={list} total={total} column={columns[cursor.column]} entity={entityAt(cursor.row)} edits={edits} />
    </div>
  );
}
