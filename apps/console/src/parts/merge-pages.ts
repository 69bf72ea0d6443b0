import type { Page } from '@parley/client/manage';

/** The newest part of a list. */
export interface Head<Item> {
  items: Item[];
  /** Leads to what is older than the head; null when nothing is. */
  cursor: string | null;
}

/**
 * The newest page before the older part of what was known; the page alone when the two have
 * nothing in common.
 */
export function mergeHead<Item>(
  before: Head<Item> | undefined,
  page: Page<Item>,
  idOf: (item: Item) => string,
): Head<Item> {
  const fresh = { items: page.data, cursor: page.hasMore ? page.cursor : null };
  if (before === undefined || !page.hasMore) return fresh;
  const at = new Map(before.items.map((item, index) => [idOf(item), index]));
  const common = page.data.findLast((item) => at.has(idOf(item)));
  if (common === undefined) return fresh;
  const newest = new Set(page.data.map(idOf));
  const rest = before.items
    .slice(at.get(idOf(common))! + 1)
    .filter((item) => !newest.has(idOf(item)));
  return { items: [...page.data, ...rest], cursor: before.cursor };
}

/** The head before the older pages, each item once. */
export function joinPages<Item>(
  newest: readonly Item[],
  pages: readonly Page<Item>[],
  idOf: (item: Item) => string,
): Item[] {
  const known = new Set(newest.map(idOf));
  const older = pages.flatMap((page) => page.data);
  return [...newest, ...older.filter((item) => !known.has(idOf(item)))];
}
