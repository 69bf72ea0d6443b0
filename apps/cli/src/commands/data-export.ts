import { closeSync, existsSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { QueryInput } from '@parley/client';
import type { JsonObject } from '@parley/contracts';
import { type DataClient, withClient } from '../data/client';
import { parseObject } from '../data/input';
import { startProgress } from '../data/progress';
import { createMark } from '../data/resume';
import { createWriter, formatOf } from '../data/rows';
import { Failure } from '../failure';
import { note, printJson } from '../terminal';
import { schemaOf } from './data-import';

export interface DataExportOptions {
  out?: string;
  format?: string;
  filters?: string;
  status?: string;
  keepFormulas?: boolean;
  force?: boolean;
  json?: boolean;
}

type Question = Omit<QueryInput<JsonObject>, 'limit'>;

interface ExportState {
  /** Of what is exported: another question is another export. */
  question: string;
  cursor: string;
  bytes: number;
  count: number;
}

/**
 * `parley data export <type>`: every entity as CSV or JSON lines, on stdout or into a file. An export into a file that
 * is interrupted goes on where it was with the same call.
 */
export async function runDataExport(type: string, options: DataExportOptions): Promise<void> {
  const { out, status, keepFormulas, json } = options;
  const filters = options.filters === undefined ? undefined : parseObject(options.filters, 'the filters');
  const format = formatOf(options.format, out);
  if (json && out === undefined) throw new Failure('--json tells the result of an export into a file: give --out');
  const writer = createWriter(format, await schemaOf(type), keepFormulas);
  await withClient(async (client) => {
    const question = JSON.stringify({ type, filters, status, format, keepFormulas });
    const input = { filters: filters as Question['filters'], status };
    if (out === undefined) {
      process.stdout.write(writer.head);
      for await (const page of pages(client, type, input))
        process.stdout.write(page.data.map((entity) => writer.line(entity)).join(''));
      return;
    }
    const mark = createMark<ExportState>(`${out}.parley-export`);
    const earlier = mark.read();
    const known = earlier?.question === question && existsSync(out) && !options.force ? earlier : null;
    if (!known && existsSync(out) && !options.force) throw new Failure(`${out} exists; --force writes it anew`);
    const file = openOut(out, known ? 'r+' : 'w');
    try {
      const state = known ?? { question, cursor: '', bytes: writeSync(file, writer.head, 0), count: 0 };
      if (known) note(`Going on after ${known.count} entities.`);
      const progress = startProgress(`Exporting ${type}`, 0, json);
      // What was written after the mark is written again.
      ftruncateSync(file, state.bytes);
      for await (const page of pages(client, type, { ...input, cursor: state.cursor || undefined })) {
        const text = page.data.map((entity) => writer.line(entity)).join('');
        state.bytes += writeSync(file, text, state.bytes);
        state.count += page.data.length;
        state.cursor = page.cursor;
        mark.write(state);
        progress.advance(state.count);
      }
      mark.remove();
      progress.stop(`Exported ${state.count} entities to ${out}.`);
      if (json) printJson({ type, file: out, exported: state.count });
    } finally {
      closeSync(file);
    }
  }, 'file');
}

function openOut(out: string, flags: 'r+' | 'w'): number {
  try {
    return openSync(out, flags);
  } catch (error) {
    throw new Failure(`${out} cannot be written: ${(error as Error).message}`);
  }
}

async function* pages(client: DataClient, type: string, input: Question) {
  for (let { cursor } = input; ;) {
    const page = await client.data.query(type, { ...input, cursor, limit: 100 });
    yield page;
    if (!page.hasMore) return;
    cursor = page.cursor;
  }
}
