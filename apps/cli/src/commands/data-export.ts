import { closeSync, existsSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { QueryInput } from '@parley/client';
import type { JsonObject } from '@parley/contracts';
import { createWriter } from '@parley/rows';
import { pathOf } from '../command-io';
import { type DataClient, withClient } from '../data/client';
import { parseObject } from '../data/input';
import { startProgress } from '../data/progress';
import { createCheckpoint } from '../data/checkpoint';
import { formatOf } from '../data/rows';
import { Failure } from '../failure';
import { note, printContent, printJson } from '../terminal';
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

type Query = Omit<QueryInput<JsonObject>, 'limit'>;

interface ExportState {
  /** Type, filters and format of the export. A run with another query does not resume it. */
  query: string;
  cursor: string;
  bytes: number;
  count: number;
}

/**
 * `parley data export <type>`: writes all entities as CSV or JSON lines to stdout or a file. The
 * same command resumes an interrupted export to a file.
 */
export async function runDataExport(type: string, options: DataExportOptions): Promise<void> {
  const { status, keepFormulas, json } = options;
  const out = options.out === '-' ? undefined : options.out;
  const filters =
    options.filters === undefined ? undefined : await parseObject(options.filters, '--filters');
  const format = formatOf(options.format, out);
  if (json && out === undefined)
    throw new Failure('--json requires --out: it prints the result of an export to a file');
  const writer = createWriter(format, await schemaOf(type), keepFormulas);
  await withClient(async (client) => {
    const query = JSON.stringify({ type, filters, status, format, keepFormulas });
    const input = { filters: filters as Query['filters'], status };
    if (out === undefined) {
      printContent(writer.head);
      for await (const page of pages(client, type, input))
        printContent(page.data.map((entity) => writer.line(entity)).join(''));
      return;
    }
    const checkpoint = createCheckpoint<ExportState>(pathOf(`${out}.parley-export`));
    const earlier = checkpoint.read();
    const isThere = existsSync(pathOf(out));
    const resumed = earlier?.query === query && isThere && !options.force ? earlier : null;
    if (!resumed && isThere && !options.force)
      throw new Failure(`${out} already exists. Use --force to overwrite it`);
    const file = openOut(out, resumed ? 'r+' : 'w');
    try {
      const state = resumed ?? {
        query,
        cursor: '',
        bytes: writeSync(file, writer.head, 0),
        count: 0,
      };
      if (resumed) note(`Resuming after ${resumed.count} entities.`);
      const progress = await startProgress(`Exporting ${type}`, 0, json);
      // Lines after the checkpoint are written again.
      ftruncateSync(file, state.bytes);
      for await (const page of pages(client, type, {
        ...input,
        cursor: state.cursor || undefined,
      })) {
        const text = page.data.map((entity) => writer.line(entity)).join('');
        state.bytes += writeSync(file, text, state.bytes);
        state.count += page.data.length;
        state.cursor = page.cursor;
        checkpoint.write(state);
        progress.advance(state.count);
      }
      checkpoint.remove();
      progress.stop(`Exported ${state.count} entities to ${out}.`);
      if (json) printJson({ type, file: out, exported: state.count });
    } finally {
      closeSync(file);
    }
  }, 'file');
}

function openOut(out: string, flags: 'r+' | 'w'): number {
  try {
    return openSync(pathOf(out), flags);
  } catch (error) {
    throw new Failure(`Cannot write ${out}: ${(error as Error).message}`);
  }
}

async function* pages(client: DataClient, type: string, input: Query) {
  for (let { cursor } = input; ;) {
    const page = await client.data.query(type, { ...input, cursor, limit: 100 });
    yield page;
    if (!page.hasMore) return;
    cursor = page.cursor;
  }
}
