/** The order in which a live list is shown, until another one is applied. */
export interface Order {
  reset: string;
  ids: readonly string[];
  /** When each was changed last, as it was when the order was applied. */
  changedAt: ReadonlyMap<string, number>;
}

/** What identifies an item, and when it was changed. */
export interface ItemKeys<Item> {
  idOf: (item: Item) => string;
  changedAtOf: (item: Item) => number;
}

/** The order that the server gave. */
export const orderOf = <Item>(
  fresh: readonly Item[],
  { idOf, changedAtOf, reset }: ItemKeys<Item> & { reset: string },
): Order => ({
  reset,
  ids: fresh.map(idOf),
  changedAt: new Map(fresh.map((item) => [idOf(item), changedAtOf(item)])),
});

/** What is after the last shown row was loaded by scrolling, so it moves nothing. */
export function withOlder<Item>(
  order: Order,
  fresh: readonly Item[],
  { idOf, changedAtOf }: ItemKeys<Item>,
): Order {
  const isShown = new Set(order.ids);
  const last = fresh.findLastIndex((item) => isShown.has(idOf(item)));
  const older = fresh.slice(last + 1);
  if (older.length === 0 || last < 0) return order;
  return {
    ...order,
    ids: [...order.ids, ...older.map(idOf)],
    changedAt: new Map([
      ...order.changedAt,
      ...older.map((item) => [idOf(item), changedAtOf(item)] as const),
    ]),
  };
}

/**
 * The rows of an order as they are now. One that left the list is shown as it was in
 * `known`, with `isGone`.
 */
export function rowsOf<Item>(
  order: Order,
  fresh: readonly Item[],
  known: ReadonlyMap<string, Item>,
  idOf: (item: Item) => string,
): { item: Item; isGone: boolean }[] {
  const now = new Map(fresh.map((item) => [idOf(item), item]));
  return order.ids.flatMap((id) => {
    const item = now.get(id) ?? known.get(id);
    return item === undefined ? [] : { item, isGone: !now.has(id) };
  });
}

/** The rows that would move to the front with the order of the server. */
export const countNew = <Item>(
  order: Order,
  fresh: readonly Item[],
  { idOf, changedAtOf }: ItemKeys<Item>,
): number =>
  fresh.filter((item) => {
    const before = order.changedAt.get(idOf(item));
    return before === undefined || before < changedAtOf(item);
  }).length;
