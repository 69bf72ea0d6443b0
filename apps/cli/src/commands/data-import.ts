import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { ParleyApiError } from '@parley/client';
import { type DataClient, withClient } from '../data/client';
import { startProgress } from '../data/progress';
import { createCheckpoint } from '../data/checkpoint';
import { type Format, type NewEntity, type Schema, formatOf, readRows } from '../data/rows';
import { Failure, usageFailure } from '../failure';
import { note, print, printJson } from '../terminal';

export interface DataImportOptions {
  format?: string;
  again?: boolean;
  json?: boolean;
}

interface ImportState {
  /** Part of each row's idempotency key, so that a row that is sent twice creates one entity. */
  importId: string;
  type: string;
  /** Number of rows from the beginning of the file that are imported. */
  done: number;
  /** Hash of the imported rows. An import is not resumed when they have changed. */
  hash: string;
}

/** Hides the latency of the network. More requests would not be faster, because of the rate limit. */
const maxConcurrentRequests = 4;

/** `parley data import <type> <file>`: imports CSV or JSON lines. The same command resumes an interrupted import. */
export async function runDataImport(type: string, file: string, options: DataImportOptions): Promise<void> {
  if (!existsSync(file)) throw usageFailure(`File ${file} does not exist`);
  const format = formatOf(options.format, file);
  const text = readText(file, format);
  const schema = await schemaOf(type);
  await withClient(async (client) => {
    const { rows, problems } = readRows(text, format, schema);
    if (problems.length > 0)
      throw new Failure([`${file} has errors. Nothing was imported:`, ...problems.slice(0, 50)].join('\n  '));
    const checkpoint = createCheckpoint<ImportState>(`${file}.parley-import`);
    const earlier = options.again ? null : checkpoint.read();
    const resumed = earlier?.type === type ? earlier : null;
    if (resumed) requireSame(rows, resumed, file);
    const state = resumed ?? { importId: randomUUID(), type, done: 0, hash: '' };
    if (resumed) note(`Resuming at row ${resumed.done + 1} of ${rows.length}.`);
    const before = state.done;
    await sendRows(client, rows, state, () => checkpoint.write(state), options.json);
    const imported = rows.length - before;
    if (options.json) printJson({ type, imported, total: rows.length });
    else print(`Imported ${imported} of ${rows.length} rows into ${type}.`);
  }, 'file');
}

/** Reads the file as UTF-8 and refuses other encodings, whose letters would be replaced. */
function readText(file: string, format: Format): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (!(error instanceof TypeError)) throw new Failure(`Cannot read ${file}: ${(error as Error).message}`);
    throw new Failure(`${file} is not UTF-8. Nothing was imported. Save the file as UTF-8 and run the command again`);
  }
  // An empty file of JSON lines is the export of a type without entities. CSV has at least a header.
  if (text.trim() === '' && format === 'csv') throw new Failure(`${file} is empty. Nothing was imported`);
  return text;
}

/** Imported rows must not have changed, because an import does not update entities. Later rows may have been corrected. */
function requireSame(rows: NewEntity[], { done, hash }: ImportState, file: string): void {
  const now = rows.slice(0, done).reduce(chain, '');
  if (rows.length < done || now !== hash) {
    throw new Failure(
      `Rows of ${file} have changed after they were imported. Use --again to import all rows as new entities`,
    );
  }
  if (done === rows.length) {
    throw new Failure(`${file} was already imported (${done} rows). Use --again to import it again`);
  }
}

const chain = (hash: string, row: NewEntity): string =>
  createHash('sha256').update(hash).update(JSON.stringify(row)).digest('hex');

export async function schemaOf(type: string): Promise<Schema> {
  const { data } = await withClient((client) => client.entityTypes());
  const found = data.find(({ slug }) => slug === type);
  if (found === undefined)
    throw new Failure(
      `Entity type ${type} not found. ${data.length === 0 ? 'The environment has none' : `Available types: ${data.map(({ slug }) => slug).join(', ')}`}`,
    );
  return found.schema;
}

/** Identifies rows by content instead of position, because the correction of one row may insert or delete others. */
function namesOf(rows: NewEntity[]): string[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const hash = chain('', row).slice(0, 32);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    return `${hash}-${count}`;
  });
}

/** Sends several rows at a time. Calls `save` after each change of `state`, which counts rows from the beginning. */
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
  const results = await Promise.allSettled(Array.from({ length: maxConcurrentRequests }, send));
  const rejected = results.find((result) => result.status === 'rejected');
  progress.stop(rejected ? `Stopped after ${state.done} rows` : `Imported all ${rows.length} rows`);
  if (rejected) throw rejected.reason;
}

/** Repeats a call that is still rate limited after the client's own retries. */
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
  const text = `row ${at + 1}: ${message}. The rows before it are imported. Correct the row and run the command again`;
  return new ParleyApiError(status, { ...fields, error: text }, requestId);
}
