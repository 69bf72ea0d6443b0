import type { GridColumn } from './grid-column';
import { moveOf } from './grid-keys';
import type { GridEdit } from './use-grid-edit';
import type { GridView } from './use-grid-view';

interface Given {
  view: GridView;
  edit: GridEdit;
  column: GridColumn | undefined;
  /** Opens the entity of the cursor. */
  open: () => void;
  toggleRow: () => void;
  /** Empties the marked cells, after a question. */
  clearMarked: () => void;
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/**
 * Does what a key means in a grid while no cell is edited. False: the key is left to the browser.
 */
export function pressGridKey(
  event: Pressed,
  { view, edit, column, open, toggleRow, clearMarked }: Given,
): boolean {
  // Alt and an arrow is the history of the browser.
  if (event.altKey) return false;
  const { key, shiftKey } = event;
  const isModified = event.ctrlKey || event.metaKey;
  const move = moveOf(event, view.cursor, view.size);
  if (move !== null) {
    edit.isEntering.current = false;
    view.go(move, shiftKey && move.row >= 0);
    return true;
  }
  if (key === 'Tab') return edit.isEntering.current && !isModified && edit.tab(shiftKey ? -1 : 1);
  if (key === 'Escape') {
    edit.isEntering.current = false;
    if (view.isMarked) return done(view.unmark);
    return edit.drop();
  }
  // The head has buttons of its own.
  if (view.cursor.row < 0) return false;
  if (key === 'Enter') return done(isModified ? open : () => edit.begin());
  if (isModified) return false;
  if (key === 'F2') return done(() => edit.begin());
  if (key === ' ' && (shiftKey || column?.is === 'row')) return done(toggleRow);
  if (key === ' ' && column?.is === 'field' && column.field.kind === 'boolean')
    return done(edit.toggleBoolean);
  if (key === 'Delete' || key === 'Backspace')
    return done(view.isMarked ? clearMarked : edit.clear);
  return key.length === 1 && done(() => edit.begin(key));
}

const done = (run: () => void): true => {
  run();
  return true;
};
