import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { ParleyApiError } from '@parley/client';
import { type DataClient, withClient } from '../data/client';
import { startProgress } from '../data/progress';
import { createMark } from '../data/resume';
import { type Format, type NewEntity, type Schema, formatOf, readRows } from '../data/rows';
import { Failure, usageFailure } from '../failure';
import { note, print, printJson } from '../terminal';

export interface DataImportOptions {
  format?: string;
  again?: boolean;
  json?: boolean;
}

interface ImportState {
  /** Names this import: a row that was sent twice is made once (Idempotency-Key). */
  importId: string;
  type: string;
  /** So many rows from the first on are in. */
  done: number;
  /** Of those rows: when they have changed since, nobody can say what is in. */
  hash: string;
}

/** Enough to hide the way to the server; a rate limit is what takes time. */
const inFlight = 4;

/** `parley data import <type> <file>`: CSV or JSON lines; when it is interrupted, the same call goes on where it was. */
export async function runDataImport(type: string, file: string, options: DataImportOptions): Promise<void> {
  if (!existsSync(file)) throw usageFailure(`There is no file ${file}`);
  const format = formatOf(options.format, file);
  const text = readText(file, format);
  const schema = await schemaOf(type);
  await withClient(async (client) => {
    const { rows, problems } = readRows(text, format, schema);
    if (problems.length > 0)
      throw new Failure([`${file} has problems, nothing was imported:`, ...problems.slice(0, 50)].join('\n  '));
    const mark = createMark<ImportState>(`${file}.parley-import`);
    const earlier = options.again ? null : mark.read();
    const known = earlier?.type === type ? earlier : null;
    if (known) requireSame(rows, known, file);
    const state = known ?? { importId: randomUUID(), type, done: 0, hash: '' };
    if (known) note(`Going on at row ${known.done + 1} of ${rows.length}.`);
    const before = state.done;
    await sendRows(client, rows, state, () => mark.write(state), options.json);
    const imported = rows.length - before;
    if (options.json) printJson({ type, imported, total: rows.length });
    else print(`Imported ${imported} of ${rows.length} rows into ${type}.`);
  }, 'file');
}

/** What is not UTF-8 would come in with its letters replaced. */
function readText(file: string, format: Format): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (!(error instanceof TypeError)) throw new Failure(`${file} cannot be read: ${(error as Error).message}`);
    throw new Failure(`${file} is not UTF-8, nothing was imported; save it as UTF-8 and call again`);
  }
  // Of JSON lines that is the export of a type without entities; a table has its header at least.
  if (text.trim() === '' && format === 'csv') throw new Failure(`${file} is empty, nothing was imported`);
  return text;
}

/** Rows that are in cannot be changed by another import; those after them may have been mended since. */
function requireSame(rows: NewEntity[], { done, hash }: ImportState, file: string): void {
  const now = rows.slice(0, done).reduce(chain, '');
  if (rows.length < done || now !== hash) {
    throw new Failure(`${file} has changed in rows that were imported already; --again imports all of it as new rows`);
  }
  if (done === rows.length) {
    throw new Failure(`${file} was imported already (${done} rows); --again imports it once more`);
  }
}

const chain = (hash: string, row: NewEntity): string =>
  createHash('sha256').update(hash).update(JSON.stringify(row)).digest('hex');

export async function schemaOf(type: string): Promise<Schema> {
  const { data } = await withClient((client) => client.entityTypes());
  const found = data.find(({ slug }) => slug === type);
  if (found === undefined)
    throw new Failure(
      `Entity type ${type} not found; ${data.length === 0 ? 'there are none' : `there are: ${data.map(({ slug }) => slug).join(', ')}`}`,
    );
  return found.schema;
}

/** A row is known by what is in it, not by where it stands: rows before it may come or go while one is mended. */
function namesOf(rows: NewEntity[]): string[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const hash = chain('', row).slice(0, 32);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    return `${hash}-${count}`;
  });
}

/** Several rows at a time; `save` is told how many from the first on are in. */
async function sendRows(
  client: DataClient,
  rows: NewEntity[],
  state: ImportState,
  save: () => void,
  quiet: boolean | undefined,
): Promise<void> {
  const { importId, type } = state;
  const progress = startProgress(`Importing into ${type}`, rows.length, quiet);
  const names = namesOf(rows);
  const sent = new Set<number>();
  let next = state.done;
  let failed = false;
  progress.advance(state.done);
  const send = async () => {
    while (next < rows.length && !failed) {
      const at = next++;
      const row = rows[at]!;
      try {
        const idempotencyKey = `import-${importId}-${names[at]}`;
        await untilAdmitted(() => client.data.create(type, row, { idempotencyKey }));
      } catch (error) {
        failed = true;
        throw inRow(error, at);
      }
      sent.add(at);
      while (sent.delete(state.done)) {
        state.hash = chain(state.hash, rows[state.done]!);
        state.done += 1;
      }
      save();
      progress.advance(state.done);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: inFlight }, send));
  const broken = lanes.find((lane) => lane.status === 'rejected');
  progress.stop(broken ? `Stopped after ${state.done} rows` : `All ${rows.length} rows are in`);
  if (broken) throw broken.reason;
}

/** An import is in no hurry: a limit that lasts longer than the client's patience is waited for again. */
async function untilAdmitted<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ParleyApiError) || error.status !== 429) throw error;
    }
  }
}

function inRow(error: unknown, at: number): unknown {
  if (!(error instanceof ParleyApiError)) return error;
  const { status, requestId, message, body } = error;
  const fields = typeof body === 'object' && body !== null ? body : {};
  const text = `row ${at + 1}: ${message}; what came before is in, mend the row and call again`;
  return new ParleyApiError(status, { ...fields, error: text }, requestId);
}
