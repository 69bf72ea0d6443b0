/**
 * CSV as RFC 4180 has it: quoted fields may hold commas, quotes (doubled) and line breaks. Rows as they are; an empty
 * line is no row. Spreadsheets of many countries write semicolons or tabs for commas: which it is, the first line says.
 * Throws a SyntaxError with the line of a quote that is never closed.
 */
export function* parseCsv(text: string): Generator<string[]> {
  let [at, line] = [text.startsWith('\ufeff') ? 1 : 0, 1];
  const delimiter = delimiterOf(text.slice(at, at + 65_536));
  let row: string[] = [];
  while (at < text.length) {
    let field: string;
    if (text[at] === '"') {
      const startedAt = line;
      const parts: string[] = [];
      at += 1;
      for (;;) {
        const quote = text.indexOf('"', at);
        if (quote === -1) throw new SyntaxError(`line ${startedAt}: a quote is never closed`);
        parts.push(text.slice(at, quote));
        at = quote + 1;
        if (text[at] !== '"') break;
        parts.push('"');
        at += 1;
      }
      field = parts.join('');
      line += field.split('\n').length - 1;
    } else field = '';
    const end = endOfField(text, at, delimiter);
    field += text.slice(at, end);
    at = end;
    row.push(field);
    if (text[at] === delimiter) {
      at += 1;
      if (at < text.length) continue;
      row.push('');
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    line += 1;
    if (row.length > 1 || row[0] !== '') yield row;
    row = [];
  }
}

/** What stands most often in the first line, outside of quotes; the comma when there is nothing to choose by. */
function delimiterOf(text: string): string {
  const header = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)![0].replaceAll(/"(?:[^"]|"")*"/g, '');
  const count = (sign: string) => header.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

function endOfField(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

/** One row; that a spreadsheet runs none of it is `guardText`'s. */
export const formatCsvRow = (row: string[]): string =>
  row.map((field) => (/[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');

/**
 * A text that a spreadsheet would run as a formula gets an apostrophe in front, which every spreadsheet shows as text.
 * One that has such an apostrophe of its own gets one more, also where formulas are to stay: whoever reads the table
 * takes exactly one away (`unguardText`), so that each text comes back as it was.
 */
export const guardText = (text: string, keepFormulas = false): string =>
  (keepFormulas ? guarded : formula).test(text) ? `'${text}` : text;

export const unguardText = (text: string): string => (guarded.test(text) ? text.slice(1) : text);

const formula = /^'*[=+\-@\t\r]/;
const guarded = /^'+[=+\-@\t\r]/;
