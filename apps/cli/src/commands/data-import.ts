import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyApiError } from '@parley/client';
import { maxBulkOperations } from '@parley/contracts';
import type { Format, Schema } from '@parley/rows';
import { pathOf } from '../command-io';
import { type DataClient, withClient } from '../data/client';
import { startProgress } from '../data/progress';
import { createCheckpoint } from '../data/checkpoint';
import { type NewEntity, formatOf, readRows } from '../data/rows';
import { Failure, usageFailure } from '../failure';
import { apiAddress } from '../environment';
import { note, print, printJson } from '../terminal';

export interface DataImportOptions {
  format?: string;
  again?: boolean;
  json?: boolean;
}

/** The progress of an import into one type with one API key. */
interface ImportState {
  /** Part of each request's idempotency key, so that rows that are sent twice are created once. */
  importId: string;
  /** Number of rows from the beginning of the file that are imported. */
  done: number;
  /** Hash of the imported rows. An import is not resumed when they have changed. */
  hash: string;
  /**
   * Number and hash of the next rows if they were sent and no answer was received. They
   * may be imported.
   */
  sent?: { rows: number; hash: string };
}

/**
 * Maximum size of the rows of one request, in bytes, unless it has only one row. A bulk
 * request may have 8 MiB.
 */
const maxBatchBytes = 4 * 1_048_576;

/**
 * How often a request is repeated while its first attempt is running. The server waits two
 * minutes each time.
 */
const maxRepeats = 4;
const repeatAfterMs = 1_000;

/**
 * `parley data import <type> <file>`: imports CSV or JSON lines. The same command resumes an
 * interrupted import.
 */
export async function runDataImport(
  type: string,
  file: string,
  options: DataImportOptions,
): Promise<void> {
  if (!existsSync(pathOf(file))) throw usageFailure(`File ${file} does not exist`);
  const format = formatOf(options.format, file);
  const text = readText(file, format);
  const schema = await schemaOf(type);
  await withClient(async (client) => {
    const { rows, problems } = readRows(text, format, schema);
    if (problems.length > 0)
      throw new Failure(
        [`${file} has errors. Nothing was imported:`, ...problems.slice(0, 50)].join('\n  '),
      );
    const checkpoint = createCheckpoint<Record<string, ImportState>>(
      pathOf(`${file}.parley-import`),
    );
    const states = checkpoint.read() ?? {};
    const { url, key } = apiAddress();
    const target = `${new URL(url).origin} ${key.split('_')[1]} ${hashOfKey(key)} ${type}`;
    const resumed = options.again ? undefined : states[target];
    if (resumed) requireSame(rows, resumed, file);
    const state = resumed ?? { importId: randomUUID(), done: 0, hash: '' };
    if (resumed) note(`Resuming at row ${resumed.done + 1} of ${rows.length}.`);
    const before = state.done;
    const save = () => checkpoint.write({ ...states, [target]: state });
    await sendRows(client, type, rows, state, save, options.json);
    const imported = rows.length - before;
    if (options.json) printJson({ type, imported, total: rows.length });
    else print(`Imported ${imported} of ${rows.length} rows into ${type}.`);
  }, 'file');
}

/**
 * Separates organizations. The server has no other name of an organization that every key may read.
 */
const hashOfKey = (key: string): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 12);

/** Reads the file as UTF-8 and refuses other encodings, whose letters would be replaced. */
function readText(file: string, format: Format): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(pathOf(file)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new Failure(`Cannot read ${file}: ${message}`);
    throw new Failure(
      `${file} is not UTF-8. Nothing was imported. Save the file as UTF-8 and run the command again`,
    );
  }
  // An empty file of JSON lines is the export of a type without entities. CSV has at
  // least a header.
  if (text.trim() === '' && format === 'csv')
    throw new Failure(`${file} is empty. Nothing was imported`);
  return text;
}

/**
 * Imported rows must not have changed, because an import does not update entities. Later rows may
 * have been corrected.
 */
function requireSame(rows: NewEntity[], { done, hash, sent }: ImportState, file: string): void {
  if (rows.length < done || hashOf(rows.slice(0, done)) !== hash) {
    throw new Failure(
      `Rows of ${file} have changed after they were imported. Use --again to import all rows as new entities`,
    );
  }
  if (sent && hashOf(rows.slice(done, done + sent.rows), hash) !== sent.hash) {
    throw new Failure(
      `Rows ${done + 1} to ${done + sent.rows} of ${file} have changed, but may be imported: their answer was lost. ` +
        `Restore them and run the command again, or use --again to import all rows as new entities`,
    );
  }
  if (done === rows.length) {
    throw new Failure(
      `${file} was already imported (${done} rows). Use --again to import it again`,
    );
  }
}

const hashOf = (rows: NewEntity[], after = ''): string =>
  rows.reduce(
    (hash, row) => createHash('sha256').update(hash).update(JSON.stringify(row)).digest('hex'),
    after,
  );

export async function schemaOf(type: string): Promise<Schema> {
  const { data } = await withClient((client) => client.entityTypes());
  const found = data.find(({ slug }) => slug === type);
  if (found === undefined)
    throw new Failure(
      `Entity type ${type} not found. ${data.length === 0 ? 'The environment has none' : `Available types: ${data.map(({ slug }) => slug).join(', ')}`}`,
    );
  return found.schema;
}

/**
 * Sends the rows in batches, each of which is imported as a whole or not at all. Calls `save` after
 * each change of `state`.
 */
async function sendRows(
  client: DataClient,
  type: string,
  rows: NewEntity[],
  state: ImportState,
  save: () => void,
  quiet: boolean | undefined,
): Promise<void> {
  const progress = await startProgress(`Importing into ${type}`, rows.length, quiet);
  progress.advance(state.done);
  try {
    while (state.done < rows.length) {
      const count = state.sent?.rows ?? batchSize(rows, state.done);
      const failure = await sendBatch(
        client,
        type,
        rows.slice(state.done, state.done + count),
        state,
        save,
      );
      if (failure !== null) {
        const { at, error } = failure;
        // The rows before it are imported.
        const earlier =
          at > 0
            ? await sendBatch(client, type, rows.slice(state.done, state.done + at), state, save)
            : null;
        throw earlier === null
          ? inRow(error, state.done)
          : inRow(earlier.error, state.done + earlier.at);
      }
      progress.advance(state.done);
    }
    progress.stop(`Imported all ${rows.length} rows`);
  } catch (error) {
    progress.stop(`Stopped after ${state.done} rows`);
    throw error;
  }
}

function batchSize(rows: NewEntity[], from: number): number {
  let bytes = 0;
  let count = 0;
  while (count < maxBulkOperations && from + count < rows.length) {
    bytes += Buffer.byteLength(JSON.stringify(rows[from + count]));
    if (count > 0 && bytes > maxBatchBytes) break;
    count += 1;
  }
  return count;
}

/**
 * Imports all rows of a batch, or none. Returns the failure of a row, with its
 * position in the batch.
 */
async function sendBatch(
  client: DataClient,
  type: string,
  batch: NewEntity[],
  state: ImportState,
  save: () => void,
): Promise<{ at: number; error: ParleyApiError } | null> {
  const hash = hashOf(batch, state.hash);
  state.sent = { rows: batch.length, hash };
  save();
  const operations = batch.map((row) => ({ action: 'create' as const, ...row }));
  const idempotencyKey = `import-${state.importId}-${hash}`;
  try {
    await untilAdmitted(() =>
      client.data.bulk(type, { operations, atomic: true }, { idempotencyKey }),
    );
    state.done += batch.length;
    state.hash = hash;
  } catch (error) {
    if (isStillRunning(error)) {
      throw new Failure(
        `An earlier request with rows ${state.done + 1} to ${state.done + batch.length} is still running. ` +
          `Run the command again in a few minutes, with the same file`,
      );
    }
    // Any other failure leaves open whether the rows are imported.
    if (!(error instanceof ParleyApiError) || error.status < 400 || error.status >= 500)
      throw error;
    delete state.sent;
    save();
    const at = /^operations\.(\d+)/.exec(error.details?.[0]?.path ?? '')?.[1];
    if (at === undefined && batch.length > 1) throw error;
    return { at: Number(at ?? 0), error };
  }
  delete state.sent;
  save();
  return null;
}

/**
 * Repeats a call that is still rate limited after the client's own retries, or whose first request
 * is still running.
 */
async function untilAdmitted<T>(call: () => Promise<T>): Promise<T> {
  for (let conflicts = 0; ;) {
    try {
      return await call();
    } catch (error) {
      if (isStillRunning(error) && conflicts < maxRepeats) {
        conflicts += 1;
        await sleep(repeatAfterMs);
      } else if (!(error instanceof ParleyApiError) || error.status !== 429) throw error;
    }
  }
}

/**
 * Whether an earlier request with the same idempotency key, whose answer was lost, may still
 * import the rows.
 */
const isStillRunning = (error: unknown): boolean =>
  error instanceof ParleyApiError && error.code === 'idempotency_in_progress';

function inRow({ status, requestId, message, body }: ParleyApiError, at: number): ParleyApiError {
  const fields = typeof body === 'object' && body !== null ? body : {};
  const problem = message.replace(/^operations\.\d+(\.|: )/, '');
  const text = `row ${at + 1}: ${problem}. The rows before it are imported. Correct the row and run the command again`;
  return new ParleyApiError(status, { ...fields, details: undefined, error: text }, requestId);
}
