import { type Row, type RowOf, type Statement, column, statement, unprepared } from './statement';

/** The position of a row in a list that is ordered newest first. */
export interface Position {
  at: Date;
  id: string;
}

/** The first `limit` rows of a list, or those that follow `before`. */
export interface Page {
  limit: number;
  before: Position | null;
}

export interface Paged<T> {
  items: T[];
  /**
   * The position of the last row as text, after which the next page begins; null on the last page.
   */
  next: string | null;
  /** The position of the last row; null for a page without rows. */
  last: Position | null;
}

/** Values of a list's statement: time and id of the position, and the size of the page plus one. */
export const pageValues = ({ limit, before }: Page) => ({
  beforeAt: before?.at ?? null,
  beforeId: before?.id ?? null,
  limit: limit + 1,
});

/**
 * Maximum size of the rows of a page, in bytes of their JSON, so that the memory of a process does
 * not grow with what its rows contain (docs/adr/0085). A page ends before the row that would exceed
 * it, and has at least one.
 */
export const maxPageBytes = 1_048_576;

/** Whether the list has a row after this one. */
const hasMore = { hasMore: column.bool };

/**
 * SQL of the first rows of a list that fit in a page. PostgreSQL adds up their sizes, so that
 * neither the connection nor the process holds the others. `rows` is a query that returns them in
 * order and has a limit.
 */
const fittingSql = (rows: string, row: Row): string => `
  select ${Object.keys(row)
    .map((name) => `"${name}"`)
    .join(', ')}, "hasMore"
  from (select p.*, lead(true, 1, false) over w as "hasMore",
          row_number() over w = 1 or sum(octet_length(to_json(p)::text)) over w <= ${maxPageBytes} as fits
        from (${rows}) p window w as (rows unbounded preceding)) p
  where fits`;

/** Declares the statement of a list, whose pages end at `maxPageBytes`. */
export const listStatement = <R extends Row>(
  name: string,
  rows: string,
  row: R,
): Statement<Listed<RowOf<R>>> =>
  statement(name, fittingSql(rows, row), { ...row, ...hasMore }) as Statement<Listed<RowOf<R>>>;

/** The same for a list whose text varies between calls. */
export const unpreparedList = <R extends Row>(
  name: string,
  rows: string,
  row: R,
): Statement<Listed<RowOf<R>>> =>
  unprepared(name, fittingSql(rows, row), { ...row, ...hasMore }) as Statement<Listed<RowOf<R>>>;

/** A row of a list. */
export type Listed<T> = T & { hasMore: boolean };

/** Builds the page from the rows of a list's statement with `pageValues`. */
export function toPaged<T extends object>(
  rows: Listed<T>[],
  { limit }: Page,
  positionOf: (row: T) => Position,
): Paged<T> {
  const shown = rows.slice(0, limit);
  const items = shown.map(({ hasMore: _, ...row }) => row as unknown as T);
  const end = shown.at(-1);
  if (end === undefined) return { items, next: null, last: null };
  const last = positionOf(end);
  return { items, next: end.hasMore ? `${last.at.getTime()}.${last.id}` : null, last };
}

/**
 * Parses the `next` of a page. Returns null when the text is malformed or its id does not
 * match `idPattern`.
 */
export function parsePosition(text: string, idPattern: RegExp): Position | null {
  const [, atMs, id] = /^(\d{1,14})\.(.{1,80})$/.exec(text) ?? [];
  return id !== undefined && idPattern.test(id) ? { at: new Date(Number(atMs)), id } : null;
}
