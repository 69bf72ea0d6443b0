import type { Entity, Json, JsonObject } from '@parley/contracts';
import { formatCsvRow, guardText, unguardText } from './csv';
import { ownValue, setOwn } from './own-value';
import { type DecimalSign, type ReadValue, kindOf, readValue, writeValue } from './value';

/** Field names with their types, as `GET /v1/entity-types` returns them. */
export type Schema = Record<string, string>;
export const formats = ['csv', 'jsonl'] as const;
export type Format = (typeof formats)[number];

/** An entity of a file. Its id is that of the entity which it was exported from. */
export interface FileEntity {
  id?: string;
  data: JsonObject;
  status?: string;
}

/** What a column of a table holds. */
export type Column =
  | { is: 'field'; name: string }
  | { is: 'id' }
  | { is: 'status' }
  | { is: 'data' }
  | { is: 'ignored' };

const ownColumns = ['id', 'status', 'createdAt', 'updatedAt'] as const;
export const entityKeys: ReadonlySet<string> = new Set([...ownColumns, 'type', 'data']);

/**
 * Whether this is the header of an export. An export of a type without declared fields has all of
 * `data` in one column.
 */
export const isExportHeader = (header: readonly string[]): boolean =>
  header.some((name) => name.startsWith('data.')) ||
  [...ownColumns, 'data'].every((name) => header.includes(name));

/**
 * The columns of a header. In an export, `data.<field>` are fields and the others are the entity's
 * own; otherwise each is a field.
 */
export function columnsOf(header: readonly string[]): Column[] {
  const isExport = isExportHeader(header);
  return header.map((name): Column => {
    if (name === '') return { is: 'ignored' };
    if (!isExport) return { is: 'field', name };
    if (name.startsWith('data.')) return { is: 'field', name: name.slice('data.'.length) };
    return name === 'id' || name === 'status' || name === 'data' ? { is: name } : { is: 'ignored' };
  });
}

export interface CellProblem {
  /** The field, or `data`. */
  name: string;
  expected: Extract<ReadValue, { ok: false }>['expected'];
  text: string;
}

/**
 * Reads the cells of a row. Empty cells set nothing. `isGuarded`: formulas have an apostrophe,
 * as in an export.
 */
export function readCells(
  columns: readonly Column[],
  cells: readonly string[],
  schema: Schema,
  { isGuarded, decimal }: { isGuarded: boolean; decimal?: DecimalSign },
): { ok: true; entity: FileEntity } | { ok: false; problem: CellProblem } {
  const entity: FileEntity = { data: {} };
  for (const [at, column] of columns.entries()) {
    const text = isGuarded ? unguardText(cells[at] ?? '') : (cells[at] ?? '');
    if (text === '' || column.is === 'ignored') continue;
    if (column.is === 'id' || column.is === 'status') {
      entity[column.is] = text;
      continue;
    }
    const name = column.is === 'field' ? column.name : 'data';
    const read = readValue(
      text,
      column.is === 'field' ? kindOf(ownValue(schema, name)) : 'object',
      decimal,
    );
    if (!read.ok) return { ok: false, problem: { name, expected: read.expected, text } };
    if (column.is === 'field') setOwn(entity.data, name, read.value);
    else
      for (const [field, value] of Object.entries(read.value as JsonObject))
        setOwn(entity.data, field, value);
  }
  return { ok: true, entity };
}

/** A line is a whole entity, as an export writes it, or only its `data`. Null: it is no object. */
export function readJsonValue(value: unknown): FileEntity | null {
  if (!isObject(value)) return null;
  const { id, data, status } = value;
  if (!isObject(data) || Object.keys(value).some((key) => !entityKeys.has(key)))
    return { data: value };
  return {
    ...(typeof id === 'string' && { id }),
    data,
    ...(typeof status === 'string' && { status }),
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Formats entities for an export: a head line for CSV, and one line per entity. `keepFormulas`:
 * see `guardText`.
 */
export function createWriter(
  format: Format,
  schema: Schema,
  keepFormulas = false,
): { head: string; line(entity: Entity): string } {
  if (format === 'jsonl') return { head: '', line: (entity) => `${JSON.stringify(entity)}\n` };
  const fields = Object.keys(schema);
  const header = [...ownColumns, ...fields.map((name) => `data.${name}`), 'data'];
  return {
    head: `${formatCsvRow(header)}\n`,
    line({ id, status, createdAt, updatedAt, data }) {
      // The last column holds fields that the type does not declare, and values that a cell
      // would not preserve.
      const rest = Object.entries(data).filter(
        ([name, value]) => !fields.includes(name) || !isPlain(value, ownValue(schema, name)),
      );
      const text = (value: string) => guardText(value, keepFormulas);
      const cells = fields.map((name) => {
        const value = ownValue(data, name);
        if (!isPlain(value, ownValue(schema, name))) return '';
        return typeof value === 'string' ? text(value) : writeValue(value);
      });
      const more = rest.length === 0 ? '' : JSON.stringify(Object.fromEntries(rest));
      return `${formatCsvRow([id, text(status), String(createdAt), String(updatedAt), ...cells, more])}\n`;
    },
  };
}

/** Whether an import reads a cell of this type back as the same value. */
function isPlain(value: Json | undefined, type: string | undefined): boolean {
  if (value === undefined) return true;
  if (value === null || value === '') return false;
  const read = readValue(writeValue(value), kindOf(type));
  return (
    read.ok &&
    typeof read.value === typeof value &&
    JSON.stringify(read.value) === JSON.stringify(value)
  );
}
