/** A filter: the path of a field, an operator without `$`, and the value as it was typed. */
export type FilterRow = [field: string, operator: string, value: string];

export interface DataSearch {
  q?: string;
  filters?: FilterRow[];
  sort?: string;
  direction?: 'asc' | 'desc';
  /** The open entity, or `new`. */
  entity?: string;
  deleted?: true;
}

export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'contains', 'in', 'exists'] as const;

const isRow = (row: unknown): row is FilterRow =>
  Array.isArray(row) && row.length === 3 && row.every((part) => typeof part === 'string');

/** Reads the parameters of the address, which people may have edited. */
export function readDataSearch(search: Record<string, unknown>): DataSearch {
  const text = (value: unknown) =>
    typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
  const filters = Array.isArray(search.filters) ? search.filters.filter(isRow) : [];
  return {
    q: text(search.q),
    filters: filters.length > 0 ? filters : undefined,
    sort: text(search.sort),
    direction: search.direction === 'asc' || search.direction === 'desc' ? search.direction : undefined,
    entity: text(search.entity),
    deleted: search.deleted === true || undefined,
  };
}

const own = ['id', 'createdAt', 'updatedAt'];
export const pathOf = (field: string): string => (own.includes(field) ? field : `data.${field}`);

/** A typed text as the value of its field. A text that is no number of a number field is kept, and the server says so. */
function valueOf(text: string, type: string | undefined): unknown {
  if (text === 'null') return null;
  if (type === 'number' || type === 'integer')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** The filters of the API. Several rows of one field hold together. */
export function toFilters(
  rows: readonly FilterRow[],
  schema: Record<string, string>,
): Record<string, Record<string, unknown>> {
  const filters: Record<string, Record<string, unknown>> = {};
  for (const [field, operator, text] of rows) {
    const type = field === 'createdAt' || field === 'updatedAt' ? 'number' : schema[field];
    const value =
      operator === 'exists'
        ? text !== 'false'
        : operator === 'in'
          ? text.split(',').map((part) => valueOf(part.trim(), type))
          : valueOf(text, operator === 'contains' ? undefined : type);
    (filters[pathOf(field)] ??= {})[`$${operator}`] = value;
  }
  return filters;
}
