import { stripVTControlCharacters } from 'node:util';
import picocolors from 'picocolors';
import { safeLine, safeText } from './safe-text';

/** A result, on stdout: what scripts read. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** A result as one JSON line. Strings in it may be anybody's, so what JSON leaves raw is escaped too. */
export const printJson = (value: unknown): void => print(safeText(JSON.stringify(value)));

/** Whether a program reads what comes: with --json stdout has the result and stderr the error, and nothing else. */
export const asJson = process.argv.includes('--json');

/** A failure for a program: one JSON line on stderr. */
export const tellJson = (error: string, fields: object = {}): void =>
  void process.stderr.write(`${safeText(JSON.stringify({ error, ...fields }))}\n`);

/** Anything else that a person may want to know, on stderr. */
export function note(line: string): void {
  if (asJson) return;
  process.stderr.write(`${process.stderr.isTTY ? line : stripVTControlCharacters(line)}\n`);
}

/** Colours only where a person looks, and not with NO_COLOR (no-color.org). */
export const colors = picocolors.createColors(Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);

/** Rows as aligned columns; the last column is not padded. Cells may be anybody's text. */
export function formatTable(header: string[], rows: string[][]): string {
  const cells = rows.map((row) => row.map(safeLine));
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  const format = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [colors.bold(format(header)), ...cells.map(format)].join('\n');
}

/** Names and values below each other; what is undefined is left out. */
export function formatFields(fields: Record<string, string | undefined>): string {
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${colors.dim(name.padEnd(width))}  ${safeLine(value)}`).join('\n');
}

/** Text of others below its heading, with two columns before each line. */
export const indentText = (text: string): string => safeText(text).replace(/^(?=.)/gm, '  ');

/** In the zone of this terminal (TZ): `2026-11-20 22:49:03`. */
export function formatTime(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** What `formatTime` is in, for whoever reads it elsewhere. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
