import picocolors from 'picocolors';

/** A result, on stdout: what scripts read. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Anything else that a person may want to know, on stderr. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`);

/** Colours only where a person looks, and not with NO_COLOR (no-color.org). */
export const colors = picocolors.createColors(Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);

/** Rows as aligned columns; the last column is not padded. */
export function formatTable(header: string[], rows: string[][]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const format = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [colors.bold(format(header)), ...rows.map(format)].join('\n');
}
