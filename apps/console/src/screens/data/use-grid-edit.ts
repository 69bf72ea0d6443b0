import type { Entity } from '@parley/client';
import { useRef } from 'react';
import type { EntityList } from './entity-list';
import type { RowActions } from './grid-cell';
import { type GridColumn, editText, isInline, valueOf } from './grid-column';
import { nextStop } from './grid-keys';
import type { CellEdits } from './use-cell-edits';
import type { GridView } from './use-grid-view';

export interface GridEdit {
  /** Opens the editor of the cursor's cell, with its text or with what was typed. */
  begin: (typed?: string) => void;
  finish: RowActions['finish'];
  toggleBoolean: () => void;
  /** Empties the cell. */
  clear: () => void;
  /** Shows the stored value in place of a refused one. */
  drop: () => boolean;
  /** Goes to the next or previous field; false at the end of the grid. */
  tab: (step: 1 | -1) => boolean;
  /** After Tab has left an editor, Tab moves on; otherwise it leaves the grid. */
  isEntering: { current: boolean };
}

interface Given {
  view: GridView;
  list: EntityList;
  columns: readonly GridColumn[];
  edits: CellEdits;
  onOpen: (id: string, field?: string) => void;
  setEditing: (text: string | null) => void;
}

const isEditable = (entity: Entity | undefined): entity is Entity =>
  entity !== undefined && entity.status !== 'deleted';

/** What is done with the cell of the cursor. */
export function useGridEdit({ view, list, columns, edits, onOpen, setEditing }: Given): GridEdit {
  const isEntering = useRef(false);
  const { cursor, size } = view;
  const entity = list.at(cursor.row);
  const column = columns[cursor.column];
  const field = column?.is === 'field' ? column.field : undefined;
  const save = (text: string) => {
    if (isEditable(entity) && field) edits.save(entity, field, text);
  };
  const toggleBoolean = () => {
    if (!isEditable(entity) || !field) return;
    save(String((edits.of(entity.id, field.name)?.value ?? valueOf(entity, field)) !== true));
  };
  const begin = (typed?: string) => {
    if (entity === undefined) return;
    if (!field || !isEditable(entity) || !isInline(field, valueOf(entity, field))) {
      if (typed === undefined) onOpen(entity.id, field?.name);
    } else if (field.kind === 'boolean' && field.options === undefined) {
      if (typed === undefined) toggleBoolean();
    } else
      setEditing(
        typed ?? edits.of(entity.id, field.name)?.text ?? editText(valueOf(entity, field)),
      );
  };
  const tab = (step: 1 | -1): boolean => {
    const next = nextStop(cursor, step, size, (at) => columns[at.column]?.is === 'field');
    if (next !== null) view.go(next);
    return next !== null;
  };
  const finish: RowActions['finish'] = (text, move) => {
    setEditing(null);
    if (text !== null) save(text);
    isEntering.current = move === 'next' || move === 'previous';
    if (move === 'down') view.go({ ...cursor, row: Math.min(cursor.row + 1, size.rows - 1) });
    else if (move !== 'stay') tab(move === 'next' ? 1 : -1);
    // A click elsewhere has moved the focus already.
    else if (text === null) view.focus();
  };
  const drop = () => {
    const isRefused = entity && field && edits.of(entity.id, field.name)?.problem;
    if (isRefused) edits.drop(entity.id, field.name);
    return !!isRefused;
  };
  return { begin, finish, toggleBoolean, clear: () => save(''), drop, tab, isEntering };
}
