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
  /** The position of the last row as text, after which the next page begins; null on the last page. */
  next: string | null;
  /** The position of the last row; null for a page without rows. */
  last: Position | null;
}

/** Returns the last parameters of a list's statement: time and id of the position, and the size of the page plus one. */
export const pageValues = ({ limit, before }: Page): [Date | null, string | null, number] => [
  before?.at ?? null,
  before?.id ?? null,
  limit + 1,
];

/** Builds the page from the rows of a statement with `pageValues`. */
export function toPaged<T>(rows: T[], { limit }: Page, positionOf: (row: T) => Position): Paged<T> {
  const items = rows.slice(0, limit);
  const last = items.length === 0 ? null : positionOf(items.at(-1)!);
  return { items, next: rows.length > limit ? `${last!.at.getTime()}.${last!.id}` : null, last };
}

/** Parses the `next` of a page. Returns null when the text is malformed or its id does not match `idPattern`. */
export function parsePosition(text: string, idPattern: RegExp): Position | null {
  const [, atMs, id] = /^(\d{1,14})\.(.{1,80})$/.exec(text) ?? [];
  return id !== undefined && idPattern.test(id) ? { at: new Date(Number(atMs)), id } : null;
}
