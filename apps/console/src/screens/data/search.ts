import type { Json } from '@parley/client';
import { type ReadValue, readValue } from '@parley/rows';
import { type DataField, withNested } from './fields';

/** A filter: the path of a field, an operator without `$`, and the value as it was typed. */
export type FilterRow = [field: string, operator: Operator, value: string];

export const entityTabs = ['fields', 'relations', 'history', 'json'] as const;
export type EntityTab = (typeof entityTabs)[number];

export interface DataSearch {
  q?: string;
  filters?: FilterRow[];
  sort?: string;
  direction?: 'asc' | 'desc';
  /** Only this lifecycle status; without one all but `deleted`. */
  status?: string;
  /** The open entity, or `new`. */
  entity?: string;
  tab?: EntityTab;
  /** What is open beside the list. */
  view?: 'schema' | 'import';
}

const operators = [
  ...(['eq', 'ne', 'contains', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const),
  ...(['filled', 'empty', 'present', 'absent'] as const),
] as const;
export type Operator = (typeof operators)[number];

/**
 * Those that take no value. `null` matches a field that is null or absent; `$exists` only asks
 * whether it is there.
 */
const withoutValue: Partial<Record<Operator, readonly [operator: string, operand: Json]>> = {
  filled: ['$ne', null],
  empty: ['$eq', null],
  present: ['$exists', true],
  absent: ['$exists', false],
};
export const takesValue = (operator: Operator): boolean => withoutValue[operator] === undefined;
export const takesList = (operator: Operator): boolean => operator === 'in' || operator === 'nin';

const isRow = (row: unknown): row is FilterRow =>
  Array.isArray(row) &&
  row.length === 3 &&
  row.every((part) => typeof part === 'string') &&
  (operators as readonly string[]).includes(row[1] as string);

/** Reads the parameters of the address, which people may have edited. */
export function readDataSearch(search: Record<string, unknown>): DataSearch {
  const text = (value: unknown) =>
    typeof value === 'string' && value !== ''
      ? value
      : typeof value === 'number'
        ? String(value)
        : undefined;
  const oneOf = <One extends string>(values: readonly One[], value: unknown) =>
    values.find((one) => one === value);
  const filters = Array.isArray(search.filters) ? search.filters.filter(isRow) : [];
  return {
    q: text(search.q),
    filters: filters.length > 0 ? filters : undefined,
    sort: text(search.sort),
    direction: oneOf(['asc', 'desc'], search.direction),
    status: text(search.status)?.slice(0, 64),
    entity: text(search.entity),
    tab: oneOf(entityTabs, search.tab),
    view: oneOf(['schema', 'import'], search.view),
  };
}

const ownFields = ['id', 'createdAt', 'updatedAt'];
export const pathOf = (field: string): string =>
  ownFields.includes(field) ? field : `data.${field}`;

const ownField = (name: string, kind: DataField['kind']): DataField => ({
  name,
  kind,
  type: kind,
  isRequired: false,
  isSearched: false,
  properties: [],
});

/** The fields that filters and sorts can name. */
export const filterableFields = (fields: readonly DataField[]): DataField[] => [
  ...withNested(fields).filter(({ name }) => !ownFields.includes(name)),
  ...[ownField('id', 'text'), ownField('createdAt', 'date'), ownField('updatedAt', 'date')],
];
export const fieldNamed = (name: string, fields: readonly DataField[]): DataField =>
  fields.find((field) => field.name === name) ?? ownField(name, 'any');

/** The operators that make sense for a field. */
export function operatorsOf({ name, kind, options }: DataField): readonly Operator[] {
  const presence: Operator[] = ownFields.includes(name)
    ? []
    : ['filled', 'empty', 'present', 'absent'];
  if (name === 'id') return ['eq', 'ne', 'in', 'nin'];
  if (options || kind === 'boolean')
    return ['eq', 'ne', ...(options ? (['in', 'nin'] as const) : []), ...presence];
  if (kind === 'object') return ['eq', 'ne', ...presence];
  if (kind === 'array') return ['contains', 'eq', 'ne', ...presence];
  if (kind === 'date') return ['gte', 'gt', 'lte', 'lt', 'eq', 'ne', ...presence];
  if (kind === 'number' || kind === 'integer')
    return ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', ...presence];
  return operators.filter((one) => takesValue(one) || presence.includes(one));
}

export type FilterProblem = 'missing' | 'repeated' | Extract<ReadValue, { ok: false }>['expected'];

/** What a row asks for, or why it asks for nothing yet. */
function operandOf(
  [, operator, typed]: FilterRow,
  field: DataField,
): { value: Json } | { problem: FilterProblem } {
  // A list has blanks after its commas.
  const text = typed.trim();
  if (text === '') return { problem: 'missing' };
  // An element of an array has the type of its items; a part of a text is a text.
  const kind =
    operator !== 'contains'
      ? field.kind
      : field.kind !== 'array'
        ? 'text'
        : field.items === 'string'
          ? 'text'
          : 'any';
  const option = field.options?.find((one) => String(one) === typed || String(one) === text);
  if (option !== undefined) return { value: option };
  if (field.name === 'createdAt' || field.name === 'updatedAt') {
    const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
    return Number.isNaN(at) ? { problem: 'number' } : { value: at };
  }
  const read = readValue(text, kind);
  return read.ok ? read : { problem: read.expected };
}

export interface ReadFilters {
  filters: Record<string, Record<string, Json>>;
  /** By the place of their row. Such a row filters nothing. */
  problems: Map<number, FilterProblem>;
}

/**
 * The filters of the API. Several rows of one field hold together, and each operator
 * of a field once.
 */
export function readFilters(rows: readonly FilterRow[], fields: readonly DataField[]): ReadFilters {
  const filters: ReadFilters['filters'] = {};
  const problems: ReadFilters['problems'] = new Map();
  for (const [at, row] of rows.entries()) {
    const [name, operator, text] = row;
    const field = fieldNamed(name, fields);
    const fixed = withoutValue[operator];
    let sign = `$${operator}`;
    let value: Json;
    if (fixed) [sign, value] = fixed;
    else {
      const parts = takesList(operator)
        ? text.split(',').filter((part) => part.trim() !== '')
        : [text];
      const read = (parts.length === 0 ? [''] : parts).map((part) =>
        operandOf([name, operator, part], field),
      );
      const wrong = read.find((one) => 'problem' in one);
      if (wrong && 'problem' in wrong) {
        problems.set(at, wrong.problem);
        continue;
      }
      const values = read.flatMap((one) => ('value' in one ? [one.value] : []));
      value = takesList(operator) ? values : values[0]!;
    }
    const conditions = (filters[pathOf(name)] ??= {});
    if (sign in conditions) problems.set(at, 'repeated');
    else conditions[sign] = value;
  }
  return { filters, problems };
}
