import type { Entity, Json } from '@parley/client';
import { AlertTriangle, Check, Maximize2, Minus } from 'lucide-react';
import { memo, useEffect, useRef } from 'react';
import { useTexts } from '../../i18n';
import { Ago } from '../../parts/time';
import type { DataField } from './fields';
import { type GridColumn, isNumeric, valueOf } from './grid-column';
import { dataCatalog } from './texts';
import type { CellEdit } from './use-cell-edits';
import { isSame, showValue } from './values';

interface RowProps {
  entity: Entity | undefined;
  row: number;
  start: number;
  columns: readonly GridColumn[];
  /** The column with the cursor; -1 in other rows. */
  active: number;
  /** The columns of the marked cells; empty in other rows. */
  marked: readonly [number, number] | null;
  isSelected: boolean;
  isOpen: boolean;
  /** The text of the editor at the cursor. */
  editing: string | null;
  editOf: (id: string, field: string) => CellEdit | undefined;
  actions: RowActions;
}

/** They stay the same between renders. */
export interface RowActions {
  toggle: (row: number, isRange: boolean) => void;
  open: (row: number) => void;
  /** Ends the editor. Null: nothing is saved. */
  finish: (text: string | null, move: 'down' | 'next' | 'previous' | 'stay') => void;
}

export const GridRow = memo(function GridRow(props: RowProps) {
  const { entity, row, start, columns, isSelected, isOpen, active, marked, editing, actions } =
    props;
  const texts = useTexts(dataCatalog);
  const look = isSelected ? 'bg-accent-soft' : isOpen ? 'bg-n3' : 'bg-n1 hover:bg-n2';
  return (
    <div
      role="row"
      aria-rowindex={row + 2}
      aria-selected={isSelected}
      className={`group absolute inset-x-0 top-0 grid h-9 [grid-template-columns:var(--columns)] border-b border-n4 ${look}`}
      style={{ transform: `translateY(${start}px)` }}
    >
      {columns.map((column, at) => {
        const isActive = at === active;
        const isMarked = marked !== null && at >= marked[0] && at <= marked[1];
        const edit =
          entity && column.is === 'field' ? props.editOf(entity.id, column.field.name) : undefined;
        const isWrong = edit?.problem != null;
        const isEditing = isActive && editing !== null;
        return (
          <div
            key={at}
            role="gridcell"
            aria-colindex={at + 1}
            aria-invalid={isWrong || undefined}
            data-row={row}
            data-column={at}
            tabIndex={isActive && !isEditing ? 0 : -1}
            className={`flex min-w-0 items-center px-2 outline-none ${column.is === 'row' ? 'sticky left-0 z-[1] bg-inherit' : 'border-l border-n4'} ${
              isMarked ? 'bg-accent-soft' : ''
            } ${isWrong ? 'bg-failed-soft' : ''} focus:shadow-[inset_0_0_0_2px_var(--color-accent)] ${isEditing ? 'shadow-[inset_0_0_0_2px_var(--color-accent)]' : ''}`}
          >
            {entity === undefined ? (
              <span className="skeleton h-3 w-2/3" />
            ) : column.is === 'row' ? (
              <span className="flex w-full items-center gap-1">
                <input
                  type="checkbox"
                  tabIndex={-1}
                  aria-label={texts.selectRow(entity.id)}
                  checked={isSelected}
                  onClick={(event) => actions.toggle(row, event.shiftKey)}
                  readOnly
                />
                <button
                  type="button"
                  tabIndex={-1}
                  aria-label={texts.openRow(entity.id)}
                  title={texts.open}
                  onClick={() => actions.open(row)}
                  className="rounded p-1 text-n10 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 hover:bg-n4 hover:text-n12"
                >
                  <Maximize2 aria-hidden size={14} />
                </button>
              </span>
            ) : column.is === 'updated' ? (
              <Ago at={entity.updatedAt} className="truncate text-n11" />
            ) : isEditing ? (
              <CellEditor field={column.field} text={editing} onEnd={actions.finish} />
            ) : (
              <CellValue field={column.field} value={valueOf(entity, column.field)} edit={edit} />
            )}
          </div>
        );
      })}
    </div>
  );
});

/** A value as its type is read best. A text that is not stored is shown with the reason. */
function CellValue({
  field,
  value,
  edit,
}: {
  field: DataField;
  value: Json | undefined;
  edit?: CellEdit;
}) {
  const texts = useTexts(dataCatalog);
  if (edit?.problem)
    return (
      <span className="flex min-w-0 items-center gap-1 text-failed">
        <AlertTriangle aria-hidden size={13} className="shrink-0" />
        <span className="truncate">{edit.text || texts.emptyValue}</span>
      </span>
    );
  const shown = edit === undefined ? value : edit.value;
  const isSaving = edit !== undefined && !isSame(edit.value, value);
  if (typeof shown === 'boolean')
    return (
      <span className="inline-flex items-center gap-1">
        {shown ? (
          <Check aria-hidden size={14} className="text-done" />
        ) : (
          <Minus aria-hidden size={14} />
        )}
        {shown ? texts.yes : texts.no}
      </span>
    );
  const isJson = typeof shown === 'object' && shown !== null;
  const text = showValue(shown, field);
  return (
    <span
      className={`min-w-0 flex-1 truncate ${typeof shown === 'number' && isNumeric(field) ? 'text-right tabular-nums' : ''} ${
        isJson || field.references !== undefined ? 'font-mono text-xs text-n11' : ''
      } ${isSaving ? 'italic' : ''}`}
    >
      {text.slice(0, 300)}
    </span>
  );
}

/**
 * The editor in the place of a cell. It is left with Enter, Tab, Escape, or by a click
 * elsewhere, which saves.
 */
function CellEditor({
  field,
  text,
  onEnd,
}: {
  field: DataField;
  text: string;
  onEnd: RowActions['finish'];
}) {
  const ref = useRef<HTMLInputElement & HTMLSelectElement>(null);
  const isEnded = useRef(false);
  useEffect(() => {
    ref.current?.focus();
    if (ref.current instanceof HTMLInputElement)
      ref.current.setSelectionRange(text.length, text.length);
    // Only when the editor opens.
  }, []);
  const end = (...given: Parameters<RowActions['finish']>) => {
    if (isEnded.current) return;
    isEnded.current = true;
    onEnd(...given);
  };
  const shared = {
    ref,
    defaultValue: text,
    'aria-label': field.name,
    onBlur: () => end(ref.current!.value, 'stay'),
    onKeyDown: (event: React.KeyboardEvent) => {
      event.stopPropagation();
      const move = {
        Enter: 'down',
        Tab: event.shiftKey ? 'previous' : 'next',
        Escape: 'stay',
      } as const;
      if (!(event.key in move)) return;
      event.preventDefault();
      end(event.key === 'Escape' ? null : ref.current!.value, move[event.key as keyof typeof move]);
    },
    className: 'h-full w-full min-w-0 bg-transparent outline-none',
  };
  if (field.options)
    return (
      <select
        {...shared}
        defaultValue={field.options.some((one) => String(one) === text) ? text : ''}
      >
        {['', ...field.options.map(String)].map((one) => (
          <option key={one} value={one} className="bg-n1">
            {one}
          </option>
        ))}
      </select>
    );
  return (
    <input {...shared} inputMode={isNumeric(field) ? 'decimal' : undefined} spellCheck={false} />
  );
}
