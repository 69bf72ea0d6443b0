/** The rows from the one that was pressed last, without one -1, to another one. */
export function rowsBetween(lastRow: number, row: number): number[] {
  const from = lastRow < 0 ? row : Math.min(lastRow, row);
  const to = lastRow < 0 ? row : Math.max(lastRow, row);
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/**
 * A selection after an entity was pressed: all that were touched get its new state. Those that are
 * not loaded stay.
 */
export function toggled(
  ids: Iterable<string>,
  pressed: string,
  touched: readonly (string | undefined)[],
): Set<string> {
  const next = new Set(ids);
  const isOn = !next.has(pressed);
  for (const id of touched) {
    if (id === undefined) continue;
    if (isOn) next.add(id);
    else next.delete(id);
  }
  return next;
}
