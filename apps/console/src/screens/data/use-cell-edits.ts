import type { Entity, Json } from '@parley/client';
import { ownValue } from '@parley/rows';
import { useRef, useState } from 'react';
import { messageOf } from '../../api/errors';
import { useWorkspace } from '../../frame/workspace';
import type { EntityList } from './entity-list';
import type { DataField } from './fields';
import { isSame, typedValue } from './values';

/**
 * A cell whose text is not stored: it is being saved, or it was refused and keeps its text
 * with the reason.
 */
export interface CellEdit {
  text: string;
  value?: Json;
  /** `kind`: the text is no value of its field. */
  problem: { reason: string } | { expected: string } | null;
}

export interface CellEdits {
  of: (id: string, field: string) => CellEdit | undefined;
  /** The texts that were refused. */
  refused: number;
  save: (entity: Entity, field: DataField, text: string) => void;
  /** Gives a refused text up: the cell shows what is stored. */
  drop: (id: string, field: string) => void;
  /** Marks a cell with a text that was refused elsewhere. */
  refuse: (id: string, field: string, text: string, reason: string) => void;
}

const keyOf = (id: string, field: string) => `${id} ${field}`;

/**
 * Saves cells at once, one request for each, and one after the other for an entity, so that the
 * last text of a cell is stored.
 */
export function useCellEdits(type: string, list: EntityList): CellEdits {
  const { client } = useWorkspace();
  const [edits, setEdits] = useState<ReadonlyMap<string, CellEdit>>(new Map());
  const latest = useRef(new Map<string, number>());
  const chains = useRef(new Map<string, Promise<void>>());
  const set = (key: string, edit: CellEdit | null) =>
    setEdits((before) => {
      const after = new Map(before);
      if (edit === null) after.delete(key);
      else after.set(key, edit);
      return after;
    });
  const save = (entity: Entity, field: DataField, text: string) => {
    const { id } = entity;
    const key = keyOf(id, field.name);
    const number = (latest.current.get(key) ?? 0) + 1;
    latest.current.set(key, number);
    const isLatest = () => latest.current.get(key) === number;
    const read = typedValue(text, field);
    if (!read.ok) return set(key, { text, problem: { expected: read.expected } });
    const isSaving = chains.current.has(id);
    if (!isSaving && isSame(read.value, ownValue(entity.data as Record<string, Json>, field.name)))
      return set(key, null);
    set(key, { text, value: read.value, problem: null });
    const run = async () => {
      try {
        list.replace(await client.data.update(type, id, { data: { [field.name]: read.value } }));
        if (isLatest()) set(key, null);
      } catch (error) {
        if (isLatest()) set(key, { text, problem: { reason: messageOf(error) } });
      }
    };
    const chain = (chains.current.get(id) ?? Promise.resolve()).then(run).then(() => {
      if (chains.current.get(id) === chain) chains.current.delete(id);
    });
    chains.current.set(id, chain);
  };
  return {
    of: (id, field) => edits.get(keyOf(id, field)),
    refused: [...edits.values()].filter(({ problem }) => problem !== null).length,
    save,
    drop: (id, field) => set(keyOf(id, field), null),
    refuse: (id, field, text, reason) => set(keyOf(id, field), { text, problem: { reason } }),
  };
}
