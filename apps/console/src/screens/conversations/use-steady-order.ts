import { useMemo, useState } from 'react';
import { type ItemKeys, type Order, countNew, orderOf, rowsOf, withOlder } from './steady-order';

interface SteadyOrderOptions<Item> extends ItemKeys<Item> {
  /** Another value applies the new order at once, such as after another filter. */
  reset: string;
  /** Whether someone may be about to press a row. */
  isHeld: () => boolean;
}

/**
 * Keeps the order of a live list while someone may be about to press a row: rows change in place,
 * new ones wait. `newCount`: the rows that would move to the front. A row that left the list
 * stays, with `isGone`.
 */
export function useSteadyOrder<Item>(
  fresh: readonly Item[],
  { idOf, changedAtOf, reset, isHeld }: SteadyOrderOptions<Item>,
) {
  const newOrder = (): Order => orderOf(fresh, { idOf, changedAtOf, reset });
  const [shown, setShown] = useState<Order>(newOrder);
  const [known, setKnown] = useState<ReadonlyMap<string, Item>>(new Map());
  const [seen, setSeen] = useState(fresh);
  let current = shown;
  if (seen !== fresh || shown.reset !== reset) {
    setSeen(fresh);
    const isApplied = shown.reset !== reset || shown.ids.length === 0 || !isHeld();
    current = isApplied ? newOrder() : withOlder(shown, fresh, { idOf, changedAtOf });
    setShown(current);
    const all = isApplied ? [] : [...known];
    setKnown(new Map([...all, ...fresh.map((item) => [idOf(item), item] as const)]));
  }
  const items = useMemo(() => rowsOf(current, fresh, known, idOf), [current, fresh, known, idOf]);
  const newCount = countNew(current, fresh, { idOf, changedAtOf });
  return { items, newCount, apply: () => setShown(newOrder()) };
}
