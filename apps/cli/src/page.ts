import { usageFailure } from './failure';

/** Where a page of a list ends, newest first: `--before` takes it, so that the next page begins after it. */
export interface Position {
  at: Date;
  id: string;
}

export interface Page {
  limit: number;
  before: Position | null;
}

export interface PageOptions {
  limit?: string;
  before?: string;
}

/** A page and where the next one begins; null at the end. */
export interface Paged<T> {
  items: T[];
  next: string | null;
}

export function parseLimit(text: string | undefined, otherwise: number, name = '--limit', least = 1): number {
  if (text === undefined) return otherwise;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : -1;
  if (limit < least || limit > 1000) throw usageFailure(`${name} wants a number from ${least} to 1000, not "${text}"`);
  return limit;
}

/** The options of a list; `idPattern` is what its ids look like. */
export function parsePage({ limit, before }: PageOptions, idPattern: RegExp): Page {
  return { limit: parseLimit(limit, 20), before: before === undefined ? null : parsePosition(before, idPattern) };
}

function parsePosition(text: string, idPattern: RegExp): Position {
  const [, atMs, id] = /^(\d{1,14})\.(.{1,80})$/.exec(text) ?? [];
  if (id === undefined || !idPattern.test(id))
    throw usageFailure(`--before wants what a list has ended with, not "${text}"`);
  return { at: new Date(Number(atMs)), id };
}

/** The page of rows of which one more than `limit` was asked for. */
export function toPaged<T>(rows: T[], limit: number, positionOf: (row: T) => Position): Paged<T> {
  const items = rows.slice(0, limit);
  if (rows.length <= limit) return { items, next: null };
  const { at, id } = positionOf(items.at(-1)!);
  return { items, next: `${at.getTime()}.${id}` };
}
