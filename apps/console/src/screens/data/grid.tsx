import { type ClipboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../frame/keys';
import { copyCells } from './clipboard';
import type { EntityList } from './entity-list';
import type { DataType } from './fields';
import { GridRow, type RowActions } from './grid-cell';
import type { GridColumn } from './grid-column';
import { GridFoot } from './grid-foot';
import { GridHead } from './grid-head';
import type { Range } from './grid-keys';
import { pressGridKey } from './press-grid-key';
import type { DataSearch } from './search';
import type { CellEdits } from './use-cell-edits';
import { useGridEdit } from './use-grid-edit';
import { useGridView } from './use-grid-view';
import type { Selection } from './use-selection';

/** Rows that one copy takes; more is an export. */
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
  /** Cells to change: a pasted text, or an empty one for all. */
  onPaste: (text: string, at: Range, columns: readonly GridColumn[]) => void;
}

const columnsOf = ({ fields }: DataType): GridColumn[] => [
  { is: 'row' },
  ...fields.map((field) => ({ is: 'field', field }) as const),
  { is: 'updated' },
];

/** The least width of a column. */
const widthRem = (column: GridColumn): number => {
  if (column.is === 'row') return 4.5;
  if (column.is === 'updated') return 8;
  const { kind, options } = column.field;
  return options || kind === 'boolean'
    ? 7
    : kind === 'number' || kind === 'integer'
      ? 8
      : kind === 'date'
        ? 10
        : 13;
};

const styleOf = (columns: readonly GridColumn[], heightPx: number) =>
  ({
    '--columns': columns
      .map((column) =>
        column.is === 'row' ? '4.5rem' : `minmax(${widthRem(column)}rem, ${widthRem(column)}fr)`,
      )
      .join(' '),
    height: heightPx,
    minWidth: `${columns.reduce((sum, column) => sum + widthRem(column), 0)}rem`,
  }) as React.CSSProperties;

/**
 * The grid of the entities of a type (WAI-ARIA grid pattern). Only the visible rows
 * are in the page.
 */
export function Grid({
  type,
  list,
  total,
  edits,
  selection,
  search,
  onSort,
  onOpen,
  onPaste,
}: GridProps) {
  const columns = useMemo(() => columnsOf(type), [type]);
  const [editing, setEditing] = useState<string | null>(null);
  const view = useGridView(list, columns.length, editing !== null);
  const edit = useGridEdit({ view, list, columns, edits, onOpen, setEditing });
  const { cursor, range } = view;
  const current = useRef({ edit, onOpen, selection, list });
  current.current = { edit, onOpen, selection, list };
  const actions = useMemo<RowActions>(
    () => ({
      finish: (...given) => current.current.edit.finish(...given),
      toggle: (row, isRange) => current.current.selection.toggle(row, isRange),
      open: (row) => {
        const entity = current.current.list.at(row);
        if (entity) current.current.onOpen(entity.id);
      },
    }),
    [],
  );
  const keys = {
    view,
    edit,
    column: columns[cursor.column],
    open: () => actions.open(cursor.row),
    toggleRow: () => selection.toggle(cursor.row, false),
    clearMarked: () => onPaste('', range, columns),
  };
  const onMouseDown = (event: MouseEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>('[data-row]');
    if (!cell || (event.target as Element).closest('input, select, button')) return;
    event.preventDefault();
    edit.isEntering.current = false;
    // An open editor saves when it loses the focus.
    if (editing !== null && document.activeElement instanceof HTMLElement)
      document.activeElement.blur();
    view.go({ row: Number(cell.dataset.row), column: Number(cell.dataset.column) }, event.shiftKey);
  };
  const isInCells = editing === null && cursor.row >= 0;
  const copy = (event: ClipboardEvent) => {
    if (!isInCells) return;
    event.preventDefault();
    const upTo = Math.min(range.rows[1], range.rows[0] + maxCopyRows - 1);
    const copied = { ...range, rows: [range.rows[0], upTo] as const };
    event.clipboardData.setData(
      'text/plain',
      copyCells(copied, columns, (row) => list.at(row)),
    );
  };
  const paste = (event: ClipboardEvent) => {
    if (!isInCells) return;
    event.preventDefault();
    onPaste(event.clipboardData.getData('text/plain'), range, columns);
  };
  useKeys({
    j: () => view.go(cursor),
    ArrowDown: () => {
      if (document.activeElement !== document.body) return false;
      view.go(cursor);
      return true;
    },
  });
  return (
    <div className="flex h-full min-w-0 flex-col">
      <div ref={view.scroller} className="min-h-0 flex-1 scroll-pl-20 overflow-auto">
        <div
          role="grid"
          aria-label={type.name}
          aria-rowcount={total === undefined ? -1 : total + 1}
          aria-colcount={columns.length}
          aria-multiselectable
          className="relative"
          style={styleOf(columns, view.heightPx)}
          onMouseDown={onMouseDown}
          onDoubleClick={({ target }) =>
            isInCells && (target as Element).closest('[role="gridcell"]') && edit.begin()
          }
          onKeyDown={(event) => {
            if (editing !== null || !pressGridKey(event, keys)) return;
            event.preventDefault();
            event.stopPropagation();
          }}
          onCopy={copy}
          onPaste={paste}
        >
          <GridHead
            columns={columns}
            search={search}
            selection={selection}
            onSort={onSort}
            active={cursor}
            onFocus={view.go}
          />
          {view.items.map(({ index, start, key }) => {
            const entity = list.at(index);
            const isMarked = view.isMarked && index >= range.rows[0] && index <= range.rows[1];
            return (
              <GridRow
                key={key}
                entity={entity}
                row={index}
                start={start}
                columns={columns}
                actions={actions}
                editOf={edits.of}
                active={index === cursor.row ? cursor.column : -1}
                marked={isMarked ? range.columns : null}
                isSelected={entity !== undefined && selection.has(entity.id)}
                isOpen={entity !== undefined && entity.id === search.entity}
                editing={index === cursor.row ? editing : null}
              />
            );
          })}
        </div>
      </div>
      <GridFoot
        list={list}
        total={total}
        edits={edits}
        column={columns[cursor.column]}
        entity={list.at(cursor.row)}
      />
    </div>
  );
}
