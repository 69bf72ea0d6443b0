export interface Position {
  /** -1 is the head of the grid. */
  row: number;
  column: number;
}

export interface GridSize {
  rows: number;
  columns: number;
  /** Rows that a page has. */
  page: number;
}

/** Where a key of the ARIA grid pattern leads from a position; null for other keys. */
export function moveOf(
  { key, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>,
  { row, column }: Position,
  { rows, columns, page }: GridSize,
): Position | null {
  const far = ctrlKey || metaKey;
  const last = { row: rows - 1, column: columns - 1 };
  const to = (next: Position): Position => ({
    row: Math.max(-1, Math.min(next.row, last.row)),
    column: Math.max(0, Math.min(next.column, last.column)),
  });
  switch (key) {
    case 'ArrowUp':
      return to({ row: far ? 0 : row - 1, column });
    case 'ArrowDown':
      return to({ row: far ? last.row : row + 1, column });
    case 'ArrowLeft':
      return to({ row, column: far ? 0 : column - 1 });
    case 'ArrowRight':
      return to({ row, column: far ? last.column : column + 1 });
    case 'PageUp':
      return to({ row: Math.max(0, row - page), column });
    case 'PageDown':
      return to({ row: row + page, column });
    case 'Home':
      return to({ row: far ? 0 : row, column: 0 });
    case 'End':
      return to({ row: far ? last.row : row, column: last.column });
    default:
      return null;
  }
}

/**
 * The cell after or before a position that `isStop` accepts, over the ends of rows; null at the
 * end of the grid.
 */
export function nextStop(
  from: Position,
  step: 1 | -1,
  { rows, columns }: GridSize,
  isStop: (position: Position) => boolean,
): Position | null {
  for (
    let at = from.row * columns + from.column + step;
    at >= 0 && at < rows * columns;
    at += step
  ) {
    const position = { row: Math.floor(at / columns), column: at % columns };
    if (isStop(position)) return position;
  }
  return null;
}

export interface Range {
  rows: readonly [number, number];
  columns: readonly [number, number];
}

/** The cells between two positions. */
export const rangeOf = (a: Position, b: Position): Range => ({
  rows: [Math.max(0, Math.min(a.row, b.row)), Math.max(a.row, b.row)],
  columns: [Math.min(a.column, b.column), Math.max(a.column, b.column)],
});
