import { CsvError, parse } from 'csv-parse/sync';

/** A record of CSV, and the line of the text on which it begins. The first line is 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/**
 * Parses CSV (RFC 4180) and skips empty lines. Spreadsheets in many countries write semicolons or
 * tabs instead of commas, so the delimiter is taken from the first line unless it is given. Throws
 * an error with the row number for a quote that is never closed. `keepEmptyLines`: an empty line is
 * an empty cell, as in a copied column.
 */
export function parseCsv(
  text: string,
  {
    delimiter = delimiterOf(text.slice(0, 65_536)),
    keepEmptyLines = false,
  }: { delimiter?: string; keepEmptyLines?: boolean } = {},
): CsvRecord[] {
  let next = 1;
  try {
    const records = parse(text, {
      bom: true,
      delimiter,
      info: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: !keepEmptyLines,
    }) as unknown as { record: string[]; info: { lines: number } }[];
    let doubled = 0;
    return records.map(({ record: cells, info }) => {
      const { breaks, pairs } = breaksIn(cells);
      // The parser counts a pair of CR and LF inside of a cell as two lines.
      doubled += pairs;
      const line = Math.max(next, info.lines - doubled - breaks);
      next = info.lines - doubled + 1;
      return { line, cells };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new SyntaxError(
      `row ${(error as CsvError & { records: number }).records + 1}: a quote is never closed`,
    );
  }
}

/**
 * The breaks of lines inside of the cells of a record, and how many of them are pairs of CR and LF.
 */
function breaksIn(cells: readonly string[]): { breaks: number; pairs: number } {
  const found = cells.flatMap((cell) => cell.match(/\r\n|\n|\r/g) ?? []);
  return { breaks: found.length, pairs: found.filter((one) => one === '\r\n').length };
}

/** The most frequent delimiter in the first line, outside quotes. Defaults to the comma. */
function delimiterOf(text: string): string {
  const header = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)![0].replaceAll(/"(?:[^"]|"")*"/g, '');
  const count = (sign: string) => header.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

/** Formats one row. Formulas are not escaped here: see `guardText`. */
export const formatCsvRow = (row: readonly string[], delimiter = ','): string =>
  row
    .map((field) =>
      /[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field,
    )
    .join(delimiter);

/**
 * Prefixes an apostrophe to text that a spreadsheet would run as a formula; every spreadsheet
 * then shows it as text. Text that already begins with an apostrophe before a formula gets
 * another one, also with `keepFormulas`. `unguardText` removes exactly one, so that each text is
 * read back unchanged.
 */
export const guardText = (text: string, keepFormulas = false): string =>
  (keepFormulas ? guarded : formula).test(text) ? `'${text}` : text;

export const unguardText = (text: string): string => (guarded.test(text) ? text.slice(1) : text);

/**
 * Characters that a spreadsheet may drop before it reads a cell: blanks, and characters
 * that are not seen.
 */
const unseen = String.raw`[\s\p{Cc}\p{Cf}\p{DI}\u2800]*`;
/**
 * What begins a formula, also in the full-width and small forms that spreadsheets
 * take for the same.
 */
const sign = String.raw`[=+\-@\t\r＝＋－＠﹦﹢﹣﹫]`;
const formula = new RegExp(`^'*${unseen}${sign}`, 'u');
const guarded = new RegExp(`^'+${unseen}${sign}`, 'u');
