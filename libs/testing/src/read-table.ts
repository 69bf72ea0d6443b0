/**
 * Reads a table of a state machine: columns are separated by `|`, the first line names them, and the first cell of every
 * other line names its row. `cells` holds the rest of a row by the names of the columns.
 */
export function readTable(text: string): { row: string; cells: Record<string, string> }[] {
  const [[, ...columns], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim())) as [string[], ...string[][]];
  return rows.map(([row, ...cells]) => ({
    row: row!,
    cells: Object.fromEntries(columns.map((column, at) => [column, cells[at]!])),
  }));
}
