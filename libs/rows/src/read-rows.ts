import type { Entity, Json, JsonObject } from '@parley/contracts';
import { usageFailure } from '../failure';
import { formatCsvRow, guardText, parseCsv, unguardText } from './csv';

export const formats = ['csv', 'jsonl'] as const;
export type Format = (typeof formats)[number];

/** Field names with their types, as `GET /v1/entity-types` returns them. */
export type Schema = Record<string, string>;

export interface NewEntity {
  data: JsonObject;
  status?: string;
}

export function formatOf(given: string | undefined, file: string | undefined): Format {
  const name = given ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'jsonl');
  if (!(formats as readonly string[]).includes(name))
    throw usageFailure(`--format must be csv or jsonl, not "${name}"`);
  return name as Format;
}

/** Parses the entities of a file, in order. Lists each row that cannot be read; callers then import none. */
export function readRows(text: string, format: Format, schema: Schema): { rows: NewEntity[]; problems: string[] } {
  const problems: string[] = [];
  const rows = format === 'csv' ? readCsv(text, schema, problems) : readJsonLines(text, problems);
  return { rows, problems };
}

function readJsonLines(text: string, problems: string[]): NewEntity[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [toNewEntity(JSON.parse(line))];
    } catch (error) {
      problems.push(`line ${index + 1}: ${(error as Error).message}`);
      return [];
    }
  });
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const entityKeys = new Set(['id', 'type', 'status', 'data', 'createdAt', 'updatedAt']);

/** A line is a whole entity, as an export writes it, or only its `data`. */
function toNewEntity(value: unknown): NewEntity {
  if (!isObject(value)) throw new Error('must be a JSON object');
  const { data, status } = value;
  if (!isObject(data) || Object.keys(value).some((key) => !entityKeys.has(key))) return { data: value };
  return { data, ...(typeof status === 'string' && { status }) };
}

function readCsv(text: string, schema: Schema, problems: string[]): NewEntity[] {
  const found: NewEntity[] = [];
  try {
    const [first, ...lines] = parseCsv(text);
    if (first === undefined) return [];
    const header = first.map((name) => name.trim());
    problems.push(...headerProblems(header));
    if (problems.length > 0) return [];
    let number = 1;
    for (const cells of lines) {
      number += 1;
      try {
        if (cells.length > header.length)
          throw new Error(`has ${cells.length} fields, but the header has ${header.length}`);
        found.push(fromCells(header, cells, schema));
      } catch (error) {
        problems.push(`row ${number}: ${(error as Error).message}`);
      }
    }
  } catch (error) {
    problems.push((error as Error).message);
  }
  return found;
}

const ownColumns = ['id', 'status', 'createdAt', 'updatedAt'];

/** Whether this is the header of an export. An export of a type without declared fields has all of `data` in one column. */
const hasFieldColumns = (header: string[]): boolean =>
  header.some((name) => name.startsWith('data.')) || [...ownColumns, 'data'].every((name) => header.includes(name));

/** A column whose values would be lost is an error, found before any row is read. */
function headerProblems(header: string[]): string[] {
  const problems: string[] = [];
  const doubled = header.filter((name, at) => name !== '' && header.indexOf(name) < at);
  if (doubled.length > 0) problems.push(`header: duplicate column ${[...new Set(doubled)].join(', ')}`);
  const bare = header.filter((name) => name !== '' && !name.startsWith('data.') && !entityKeys.has(name));
  if (hasFieldColumns(header) && bare.length > 0) {
    problems.push(
      `header: ${bare.join(', ')} would not be imported, because other columns are named data.<field>. ` +
        `Rename to ${bare.map((name) => `data.${name}`).join(', ')}, or remove the prefix "data." from all columns`,
    );
  }
  return problems;
}

/** In an export, columns `data.<field>` are fields and the others are the entity's own. Otherwise each column is a field. */
function fromCells(header: string[], cells: string[], schema: Schema): NewEntity {
  const isExport = hasFieldColumns(header);
  const entity: NewEntity = { data: {} };
  for (const [at, name] of header.entries()) {
    const cell = isExport ? unguardText(cells[at] ?? '') : (cells[at] ?? '');
    const field = isExport ? (name.startsWith('data.') ? name.slice('data.'.length) : null) : name;
    if (cell === '') continue;
    if (name === '') throw new Error(`column ${at + 1} has a value but no name in the header: ${cell}`);
    if (field !== null) entity.data[field] = toValue(cell, schema[field], field);
    else if (name === 'status') entity.status = cell;
    else if (name === 'data') Object.assign(entity.data, JSON.parse(cell));
  }
  return entity;
}

/** Converts a cell to the type of its field. A cell of an undeclared field stays text. */
function toValue(cell: string, type: string | undefined, field: string): Json {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = Number(cell);
      if (Number.isNaN(number) || cell.trim() === '') throw new Error(`${field} must be a number: ${cell}`);
      return number;
    }
    case 'boolean':
      if (!/^(true|false)$/i.test(cell)) throw new Error(`${field} must be true or false: ${cell}`);
      return cell.toLowerCase() === 'true';
    case 'object':
    case 'array':
    case 'any':
      return jsonOr(cell, type === 'any' ? cell : null, field);
    default:
      return cell;
  }
}

function jsonOr(cell: string, fallback: Json, field: string): Json {
  try {
    return JSON.parse(cell) as Json;
  } catch {
    if (fallback === null) throw new Error(`${field} must be JSON: ${cell}`);
    return fallback;
  }
}

/** Formats entities for an export: a head line for CSV, and one line per entity. `keepFormulas`: see `guardText`. */
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
      // The last column holds fields that the type does not declare, and values that a cell would not preserve.
      const rest = Object.entries(data).filter(
        ([name, value]) => !fields.includes(name) || !isPlain(value, schema[name]),
      );
      const text = (value: string) => guardText(value, keepFormulas);
      const cells = fields.map((name) => (isPlain(data[name], schema[name]) ? toCell(data[name], text) : ''));
      const more = rest.length === 0 ? '' : JSON.stringify(Object.fromEntries(rest));
      return `${formatCsvRow([id, text(status), String(createdAt), String(updatedAt), ...cells, more])}\n`;
    },
  };
}

/** Whether an import reads a cell of this type back as the same value. */
function isPlain(value: Json | undefined, type: string | undefined): boolean {
  if (value === undefined) return true;
  if (value === null || value === '') return false;
  switch (type) {
    case 'number':
    case 'integer':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
    case 'array':
      return typeof value === 'object';
    case 'any':
      return typeof value !== 'string';
    default:
      return typeof value === 'string';
  }
}

const toCell = (value: Json | undefined, text: (value: string) => string): string =>
  value === undefined ? '' : typeof value === 'string' ? text(value) : JSON.stringify(value);
