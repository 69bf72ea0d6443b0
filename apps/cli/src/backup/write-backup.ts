import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Snapshot } from '@parley/db';
import { version } from '../version';
import { writeArchive } from './archive';
import {
  type Manifest,
  checksumName,
  chunkBytes,
  chunkName,
  countLines,
  endName,
  manifestName,
} from './format';

const compress = promisify(gzip);

/**
 * Writes all rows of a snapshot to a file, with bounded memory. Returns the number
 * of rows by table.
 */
export function writeBackup(
  file: string,
  snapshot: Snapshot,
  onRows: (count: number) => void,
): Promise<Record<string, number>> {
  const { serverVersion: postgres, migrations, tables } = snapshot;
  const createdAt = new Date().toISOString();
  const manifest: Manifest = {
    format: 'parley-backup',
    version: 1,
    createdAt,
    parley: version,
    postgres,
    migrations,
    tables,
  };
  return writeArchive(file, {}, async (addFile) => {
    const checksum = createHash('sha256');
    const add = (name: string, content: Buffer): Promise<void> => {
      checksum.update(`${name}\n${content.length}\n`).update(content);
      return addFile(name, content);
    };
    await add(manifestName, Buffer.from(JSON.stringify(manifest, null, 2)));
    const rows: Record<string, number> = {};
    let sum = 0;
    for (const table of tables) {
      let count = 0;
      let no = 0;
      // While one chunk is written, the next one is read and compressed.
      let written = Promise.resolve();
      for await (const chunk of chunksOf(snapshot.rowsOf(table))) {
        count += countLines(chunk);
        const name = chunkName(table.name, (no += 1));
        const compressed = compress(chunk, { level: 4 });
        await written;
        written = compressed.then((content) => add(name, content));
        onRows(sum + count);
      }
      await written;
      rows[table.name] = count;
      sum += count;
    }
    const sequences = await snapshot.sequences();
    await add(endName, Buffer.from(JSON.stringify({ rows, sequences }, null, 2)));
    await addFile(checksumName, Buffer.from(`${checksum.digest('hex')}\n`));
    return rows;
  });
}

/** Joins what arrives to pieces of `chunkBytes`; the last one may be smaller. */
async function* chunksOf(rows: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const part of rows as AsyncIterable<Buffer>) {
    let rest = part;
    while (size + rest.length >= chunkBytes) {
      const fitting = chunkBytes - size;
      yield Buffer.concat([...parts, rest.subarray(0, fitting)], chunkBytes);
      rest = rest.subarray(fitting);
      parts = [];
      size = 0;
    }
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(parts, size);
}
