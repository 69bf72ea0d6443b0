import { type CsvRecord, parseCsv, readCells, readJsonValue } from '@parley/rows';
import type { FileRow, OpenedFile, Reading, Request } from './messages';

/** The file that is open. */
let header: string[] | null = null;
let records: CsvRecord[] = [];
const sampleRows = 5;

/** Parses a file, which `readRows` reads then. */
export const openFile = async ({
  file,
  format,
}: Extract<Request, { kind: 'open' }>): Promise<OpenedFile> => {
  const { text, encoding } = decode(await file.arrayBuffer());
  if (text.includes('\0'))
    return { header: null, rowCount: 0, sample: [], encoding: null, fingerprint: '' };
  if (format === 'csv') {
    const [first, ...rest] = parseCsv(text);
    header = first?.cells.map((name) => name.trim()) ?? [];
    records = rest;
  } else {
    header = null;
    records = text
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)
      .flatMap((line, at) => (line.trim() === '' ? [] : [{ line: at + 1, cells: [line] }]));
  }
  const sample = records.slice(0, sampleRows).map(({ cells }) => cells);
  return { header, rowCount: records.length, sample, encoding, fingerprint: fingerprintOf(text) };
};

/**
 * Spreadsheets on Windows write CSV in UTF-16, or in the encoding of Windows, whose
 * letters are no UTF-8.
 */
function decode(bytes: ArrayBuffer): Pick<OpenedFile, 'encoding'> & { text: string } {
  const [first, second] = new Uint8Array(bytes);
  for (const [encoding, ...mark] of [
    ['utf-16le', 0xff, 0xfe],
    ['utf-16be', 0xfe, 0xff],
  ] as const)
    if (first === mark[0] && second === mark[1])
      return { text: new TextDecoder(encoding).decode(bytes), encoding };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf-8' };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' };
  }
}

/** Length and a 53-bit hash (cyrb53). `crypto.subtle` does not exist on pages without HTTPS. */
function fingerprintOf(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return `${text.length}-${(4294967296 * (2097151 & b) + (a >>> 0)).toString(36)}`;
}

/** Some rows of the open file as entities. */
export const readRows = ({
  from,
  count,
  ...reading
}: Extract<Request, { kind: 'read' }>): FileRow[] =>
  records
    .slice(from, from + count)
    .map((record) => (header === null ? readLine(record) : readRecord(record, reading)));

function readLine({ line, cells }: CsvRecord): FileRow {
  let value: unknown;
  try {
    value = JSON.parse(cells[0]!);
  } catch {
    return { line, ok: false, problem: { expected: 'json' } };
  }
  const entity = readJsonValue(value);
  return entity === null
    ? { line, ok: false, problem: { expected: 'object' } }
    : { line, ok: true, entity };
}

function readRecord({ line, cells }: CsvRecord, { columns, schema, ...options }: Reading): FileRow {
  // More cells than names: the values would go to wrong fields, or nowhere.
  if (cells.slice(header!.length).some((cell) => cell !== ''))
    return { line, ok: false, problem: { expected: 'fewerCells' } };
  return { line, ...readCells(columns, cells, schema, options) };
}
