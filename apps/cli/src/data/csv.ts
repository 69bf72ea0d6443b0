/**
 * CSV as RFC 4180 has it: quoted fields may hold commas, quotes (doubled) and line breaks. Rows as they are; an empty
 * line is no row. Throws a SyntaxError with the line of a quote that is never closed.
 */
export function* parseCsv(text: string): Generator<string[]> {
  let [at, line] = [text.startsWith('\ufeff') ? 1 : 0, 1];
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
    const end = endOfField(text, at);
    field += text.slice(at, end);
    at = end;
    row.push(field);
    if (text[at] === ',') {
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

function endOfField(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

/** One row. A value that a spreadsheet would take for a formula is left as it is: it is data, and must come back. */
export const formatCsvRow = (row: string[]): string =>
  row.map((field) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
