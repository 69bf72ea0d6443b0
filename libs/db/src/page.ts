/** A row of a list that is ordered newest first: its time and its id. */
interface Position {
  at: Date;
  id: string;
}

/** The first `limit` rows of a list, or those that follow `before`. */
export interface Page {
  limit: number;
  before: Position | null;
}

/** Rows of a page, and the text of the position at which the next page begins; null at the end of the list. */
export interface Paged<T> {
  items: T[];
  next: string | null;
}

/** The last parameters of a list's statement: time and id of the position, and one row more than the page has. */
export const pageValues = ({ limit, before }: Page): [Date | null, string | null, number] => [
  before?.at ?? null,
  before?.id ?? null,
  limit + 1,
];

/** The page of the rows that `pageValues` asked for. */
export function toPaged<T>(rows: T[], { limit }: Page, positionOf: (row: T) => Position): Paged<T> {
  const items = rows.slice(0, limit);
  if (rows.length <= limit) return { items, next: null };
  const { at, id } = positionOf(items.at(-1)!);
  return { items, next: `${at.getTime()}.${id}` };
}

/** The position that the `next` of a page names; null when the text is none, or its id is not of `idPattern`. */
export function parsePosition(text: string, idPattern: RegExp): Position | null {
  const [, atMs, id] = /^(\d{1,14})\.(.{1,80})$/.exec(text) ?? [];
  return id !== undefined && idPattern.test(id) ? { at: new Date(Number(atMs)), id } : null;
}
