import { useMemo, useState } from 'react';

interface Shown {
  reset: string;
  ids: readonly string[];
  /** When each was changed last, as it was when the order was applied. */
  changedAt: ReadonlyMap<string, number>;
}

interface SteadyOrderOptions<Item> {
  idOf: (item: Item) => string;
  changedAtOf: (item: Item) => number;
  /** Another value applies the new order at once, such as after another filter. */
  reset: string;
  /** Whether someone may be about to press a row. */
  isHeld: () => boolean;
}

/**
 * Keeps the order of a live list while someone may be about to press a row: rows change in place, new ones wait. `newCount`: the
 * rows that would move to the front. A row that left the list stays, with `isGone`.
 */
export function useSteadyOrder<Item>(
  fresh: readonly Item[],
  { idOf, changedAtOf, reset, isHeld }: SteadyOrderOptions<Item>,
) {
  const orderOf = (): Shown => ({
    reset,
    ids: fresh.map(idOf),
    changedAt: new Map(fresh.map((item) => [idOf(item), changedAtOf(item)])),
  });
  const [shown, setShown] = useState<Shown>(orderOf);
  const [known, setKnown] = useState<ReadonlyMap<string, Item>>(new Map());
  const [seen, setSeen] = useState(fresh);
  let current = shown;
  if (seen !== fresh || shown.reset !== reset) {
    setSeen(fresh);
    const isApplied = shown.reset !== reset || shown.ids.length === 0 || !isHeld();
    current = isApplied ? orderOf() : withOlder(shown, fresh, idOf, changedAtOf);
    setShown(current);
    const all = isApplied ? [] : [...known];
    setKnown(new Map([...all, ...fresh.map((item) => [idOf(item), item] as const)]));
  }
  const items = useMemo(() => {
    const now = new Map(fresh.map((item) => [idOf(item), item]));
    return current.ids.flatMap((id) => {
      const item = now.get(id) ?? known.get(id);
      return item === undefined ? [] : { item, isGone: !now.has(id) };
    });
  }, [current, fresh, known, idOf]);
  const newCount = fresh.filter((item) => {
    const before = current.changedAt.get(idOf(item));
    return before === undefined || before < changedAtOf(item);
  }).length;
  return { items, newCount, apply: () => setShown(orderOf()) };
}

/** What is after the last shown row was loaded by scrolling, so it moves nothing. */
function withOlder<Item>(
  shown: Shown,
  fresh: readonly Item[],
  idOf: (item: Item) => string,
  changedAtOf: (item: Item) => number,
): Shown {
  const isShown = new Set(shown.ids);
  const last = fresh.findLastIndex((item) => isShown.has(idOf(item)));
  const older = fresh.slice(last + 1);
  if (older.length === 0 || last < 0) return shown;
  return {
    ...shown,
    ids: [...shown.ids, ...older.map(idOf)],
    changedAt: new Map([...shown.changedAt, ...older.map((item) => [idOf(item), changedAtOf(item)] as const)]),
  };
}
