import { useRef, useState } from 'react';
import type { EntityList } from './entity-list';
import { rowsBetween, toggled } from './selection';

/** The selected entities: some by their id, or all that match the filter. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** All that match, also those that are not loaded. */
  isEverything: boolean;
  size: number;
  isAllLoaded: boolean;
  has: (id: string) => boolean;
  toggle: (row: number, isRange: boolean) => void;
  toggleLoaded: () => void;
  selectEverything: () => void;
  clear: () => void;
}

const none: ReadonlySet<string> = new Set();

/** `scope`: what the list shows. Another filter ends the selection. */
export function useSelection(list: EntityList, scope: string): Selection {
  const [held, setHeld] = useState({ scope, ids: none, isEverything: false });
  const lastRow = useRef(-1);
  const { ids, isEverything } = held.scope === scope ? held : { ids: none, isEverything: false };
  const set = (next: Iterable<string>, everything = false) =>
    setHeld({ scope, ids: new Set(next), isEverything: everything });
  const loaded = list.rows.map(({ id }) => id);
  const isAllLoaded = loaded.length > 0 && (isEverything || loaded.every((id) => ids.has(id)));
  return {
    ids,
    isEverything,
    size: ids.size,
    isAllLoaded,
    has: (id) => isEverything || ids.has(id),
    toggle: (row, isRange) => {
      const id = list.at(row)?.id;
      if (id === undefined) return;
      const touched = rowsBetween(isRange ? lastRow.current : row, row).map(
        (at) => list.at(at)?.id,
      );
      lastRow.current = row;
      set(toggled(isEverything ? loaded : ids, id, touched));
    },
    toggleLoaded: () => set(isAllLoaded ? none : loaded),
    selectEverything: () => set(ids, true),
    clear: () => set(none),
  };
}
