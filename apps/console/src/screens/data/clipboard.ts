import type { Entity, Json } from '@parley/client';
import {
  type DecimalSign,
  type ReadValue,
  formatCsvRow,
  guardText,
  readValue,
  unguardText,
  writeValue,
} from '@parley/rows';
import type { DataField } from './fields';
import { type GridColumn, valueOf } from './grid-column';
import type { Range } from './grid-keys';
import { isSame } from './values';

/**
 * The cells of a range as spreadsheets read them. Texts that would run as formulas
 * get an apostrophe.
 */
export function copyCells(
  { rows, columns: [first, last] }: Range,
  columns: readonly GridColumn[],
  entityAt: (row: number) => Entity | undefined,
): string {
  const lines: string[] = [];
  for (let row = rows[0]; row <= rows[1]; row += 1) {
    const entity = entityAt(row);
    if (entity === undefined) continue;
    lines.push(
      formatCsvRow(
        columns.slice(first, last + 1).map((column) => copyCell(entity, column)),
        '\t',
      ),
    );
  }
  return lines.join('\n');
}

function copyCell(entity: Entity, column: GridColumn): string {
  if (column.is === 'row') return entity.id;
  if (column.is === 'updated') return new Date(entity.updatedAt).toISOString();
  const value = valueOf(entity, column.field);
  return typeof value === 'string' ? guardText(value) : writeValue(value);
}

/** Whether a pasted text is one value, which needs no preview. */
export const isOneCell = (text: string): boolean => !/[\t\r\n"]/.test(text.replace(/\r?\n$/, ''));

/** A cell that a paste would set. */
export interface PastedCell {
  entity: Entity;
  field: DataField;
  text: string;
  before: Json | undefined;
  read: ReadValue;
  isChanged: boolean;
}

export interface Paste {
  cells: PastedCell[];
  /** Parts of the table that have no place in the grid. */
  outside: { rows: number; columns: number };
}

/**
 * What a table would change when it is pasted at a range. One row or one column is
 * repeated over the range.
 */
export function planPaste(
  table: readonly (readonly string[])[],
  { rows, columns: places }: Range,
  columns: readonly GridColumn[],
  entityAt: (row: number) => Entity | undefined,
  decimal: DecimalSign,
): Paste {
  // A table of a whole sheet has more rows than a call may have arguments.
  const width = table.reduce((widest, cells) => Math.max(widest, cells.length), 0);
  const height = table.length;
  const repeated = (size: number, marked: number) =>
    marked % size === 0 ? Math.max(size, marked) : size;
  const tall = height === 0 ? 0 : repeated(height, rows[1] - rows[0] + 1);
  const wide = width === 0 ? 0 : repeated(width, places[1] - places[0] + 1);
  const paste: Paste = { cells: [], outside: { rows: 0, columns: 0 } };
  // A table that begins in the column of ids fills the fields after it.
  const skipped = columns[places[0]]?.is === 'row' ? 1 : 0;
  paste.outside.columns = Math.max(0, places[0] + wide - columns.length);
  for (let down = 0; down < tall; down += 1) {
    const entity = entityAt(rows[0] + down);
    if (entity === undefined) {
      paste.outside.rows += 1;
      continue;
    }
    for (let across = skipped; across < wide; across += 1) {
      const column = columns[places[0] + across];
      const text = table[down % height]?.[across % width];
      if (column?.is !== 'field' || text === undefined) continue;
      paste.cells.push(pasteCell(entity, column.field, unguardText(text), decimal));
    }
  }
  return paste;
}

function pasteCell(
  entity: Entity,
  field: DataField,
  text: string,
  decimal: DecimalSign,
): PastedCell {
  const before = valueOf(entity, field);
  const option = field.options?.find((one) => String(one) === text);
  const read: ReadValue =
    text === ''
      ? { ok: true, value: null }
      : option !== undefined
        ? { ok: true, value: option }
        : readValue(text, field.kind, decimal);
  return { entity, field, text, before, read, isChanged: read.ok && !isSame(before, read.value) };
}
