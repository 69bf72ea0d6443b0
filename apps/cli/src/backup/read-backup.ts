import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { z } from 'zod';
import { check, detailText } from '@parley/contracts';
import { Failure } from '../failure';
import { InvalidArchive, readArchive } from './archive';
import { fitBaseline } from './fit-baseline';
import {
  type BackupPart,
  checksumName,
  chunkBytes,
  chunkName,
  countLines,
  endName,
  endSchema,
  manifestName,
  manifestSchema,
  maxBytesOf,
  tableOfChunk,
} from './format';

const decompress = promisify(gunzip);

/**
 * Reads a backup part by part and checks it: names, order, sizes, numbers of rows and the checksum.
 * What a part contains is certain only when the last one, `end`, has been read. Throws a Failure
 * for any other file.
 */
export async function* readBackup(file: string): AsyncGenerator<BackupPart, undefined, undefined> {
  try {
    yield* fitBaseline(checkedParts(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof InvalidArchive)
      throw new Failure(`${file} is not a usable backup: ${message}`);
    if (code === 'ENOENT') throw new Failure(`${file} does not exist`);
    if (code === 'EISDIR' || code === 'EACCES')
      throw new Failure(`Cannot read ${file}: ${message}`);
    throw error;
  }
}

async function* checkedParts(file: string): AsyncGenerator<BackupPart, undefined, undefined> {
  const files = readArchive(file, maxBytesOf);
  const checksum = createHash('sha256');
  const next = async () => {
    const { value } = await files.next();
    if (value === undefined) throw new InvalidArchive('it is damaged or not complete');
    if (value.name !== checksumName)
      checksum.update(`${value.name}\n${value.content.length}\n`).update(value.content);
    return value;
  };
  try {
    let entry = await next();
    if (entry.name !== manifestName) throw new InvalidArchive('it was not made by parley backup');
    const manifest = parse(manifestSchema, manifestName, entry.content);
    yield { kind: 'manifest', manifest };
    entry = await next();
    const counted = new Map<string, number>();
    for (const { name: table } of manifest.tables) {
      if (counted.has(table)) throw new InvalidArchive(`it names the table ${table} twice`);
      counted.set(table, 0);
      for (let no = 1; tableOfChunk(entry.name) === table; no += 1) {
        if (entry.name !== chunkName(table, no))
          throw new InvalidArchive(`${entry.name} is out of order`);
        const rows: Buffer = await decompress(entry.content, { maxOutputLength: chunkBytes }).catch(
          () => {
            throw new InvalidArchive(`${entry.name} is damaged`);
          },
        );
        counted.set(table, counted.get(table)! + countLines(rows));
        yield { kind: 'rows', table, rows, bytesRead: entry.bytesRead };
        entry = await next();
      }
    }
    if (entry.name !== endName) throw new InvalidArchive(`${entry.name} is out of order`);
    const end = parse(endSchema, endName, entry.content);
    for (const { name } of manifest.tables)
      if (counted.get(name) !== end.rows[name])
        throw new InvalidArchive(
          `${name} has ${counted.get(name)} rows instead of ${end.rows[name]}`,
        );
    const last = await next();
    if (last.name !== checksumName || last.content.toString().trim() !== checksum.digest('hex'))
      throw new InvalidArchive('its checksum does not match, so it was changed or damaged');
    if (!(await files.next()).done) throw new InvalidArchive('it has data after its checksum');
    yield { kind: 'end', end, checksum: last.content.toString().trim() };
  } finally {
    await files.return();
  }
}

function parse<T extends z.ZodType>(schema: T, name: string, content: Buffer): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(content.toString());
  } catch {
    throw new InvalidArchive(`${name} is damaged`);
  }
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  throw new InvalidArchive(`${name}: ${detailText(checked.problems[0]!)}`);
}
