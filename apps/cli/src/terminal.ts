import { stripVTControlCharacters } from 'node:util';
import picocolors from 'picocolors';
import { io } from './command-io';
import { safeLine, safeOutput, safeText } from './safe-text';

/**
 * Prints a result on stdout, where scripts read it. Its control characters are
 * escaped, except colours.
 */
export const print = (line = ''): void => void io().stdout.write(`${safeOutput(line)}\n`);

/**
 * Writes the content of a file on stdout: unchanged for a program or a file, safe on a terminal.
 */
export function printContent(text: string): void {
  const { stdout } = io();
  stdout.write(stdout.isTTY ? safeText(text) : text);
}

/**
 * Prints a result as one line of JSON. Escapes control characters that JSON allows, as strings in
 * it are untrusted.
 */
export const printJson = (value: unknown): void => print(safeText(JSON.stringify(value)));

/** With --json, stdout has only the result and stderr only the error. */
export const asJson = (): boolean => io().args.includes('--json');

/** Whether a person at a terminal can answer a question. Questions are printed on stderr. */
export const canAsk = (): boolean => Boolean(io().stdin.isTTY && io().stderr.isTTY) && !asJson();

/** Prints a failure as one line of JSON on stderr. */
export const printJsonError = (error: string, fields: object = {}): void =>
  void io().stderr.write(`${safeText(JSON.stringify({ error, ...fields }))}\n`);

/** Prints a message for a person on stderr. */
export function note(line: string): void {
  if (asJson()) return;
  const { stderr } = io();
  const safe = safeOutput(line);
  stderr.write(`${stderr.isTTY ? safe : stripVTControlCharacters(safe)}\n`);
}

/** Colours are used on a terminal only, and not with NO_COLOR (no-color.org). */
const hasColors = (): boolean => Boolean(io().stdout.isTTY) && !io().env.NO_COLOR;
const styled = picocolors.createColors(true);
const inColor =
  (style: (text: string) => string) =>
  (text: string): string =>
    hasColors() ? style(text) : text;

export const colors = {
  bold: inColor(styled.bold),
  dim: inColor(styled.dim),
  red: inColor(styled.red),
  green: inColor(styled.green),
  yellow: inColor(styled.yellow),
  magenta: inColor(styled.magenta),
  cyan: inColor(styled.cyan),
};

/**
 * Formats rows as aligned columns; the last column is not padded. Titles and cells may
 * hold untrusted text.
 */
export function formatTable(header: string[], rows: string[][]): string {
  const titles = header.map(safeLine);
  const cells = rows.map((row) => row.map(safeLine));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]!.length)),
  );
  const format = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [colors.bold(format(titles)), ...cells.map(format)].join('\n');
}

/**
 * Formats one line for each field that is not undefined, with aligned values. Names and values
 * may be untrusted.
 */
export function formatFields(fields: Record<string, string | undefined>): string {
  const present = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[safeLine(name), value]],
  );
  const width = Math.max(...present.map(([name]) => name.length));
  return present
    .map(([name, value]) => `${colors.dim(name.padEnd(width))}  ${safeLine(value)}`)
    .join('\n');
}

/** Indents untrusted text by two columns. */
export const indentText = (text: string): string => safeText(text).replace(/^(?=.)/gm, '  ');

/** Formats a time in the time zone of the terminal (TZ), as `2026-11-20 22:49:03`. */
export function formatTime(time: Date | number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** The time zone of `formatTime`, for output that may be read elsewhere. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export const formatCount = (count: number): string => count.toLocaleString('en-US');

export function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
