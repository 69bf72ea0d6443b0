import type { Entity, Json } from '@parley/client';
import { writeValue } from '@parley/rows';
import type { DataField } from './fields';

/** A column of the grid: what selects and opens a row, a field, or when the entity was changed. */
export type GridColumn = { is: 'row' } | { is: 'field'; field: DataField } | { is: 'updated' };

export const isNumeric = ({ kind }: DataField): boolean => kind === 'number' || kind === 'integer';
/** Longer texts, objects and arrays are edited in the entity. */
const maxInlineChars = 300;

/** Whether a cell can be edited in its place. */
export function isInline(field: DataField, value: Json | undefined): boolean {
  if (field.kind === 'object' || field.kind === 'array') return false;
  if (typeof value === 'object' && value !== null) return false;
  return typeof value !== 'string' || (value.length <= maxInlineChars && !/[\r\n]/.test(value));
}

export const valueOf = (entity: Entity, { name }: DataField): Json | undefined =>
  Object.hasOwn(entity.data, name) ? (entity.data as Record<string, Json>)[name] : undefined;

/** The text that an editor begins with. */
export const editText = (value: Json | undefined): string => writeValue(value);
