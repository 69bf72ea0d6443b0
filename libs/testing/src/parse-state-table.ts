/**
 * Parses the transition table of a state machine. Columns are separated by `|`. The first line
 * names the columns, and the first cell of each other line names its row. `cells` has the other
 * cells of a row by column.
 */
export function parseStateTable(text: string): { row: string; cells: Record<string, string> }[] {
  const [[, ...columns], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim())) as [string[], ...string[][]];
  return rows.map(([row, ...cells]) => ({
    row: row!,
    cells: Object.fromEntries(columns.map((column, at) => [column, cells[at]!])),
  }));
}
