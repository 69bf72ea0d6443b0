import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { pathOf } from '../command-io';
import { Failure } from '../failure';

/** Adds a file to an archive. Resolves when it is written, so that a slow disk bounds memory. */
export type AddFile = (name: string, content: Buffer) => Promise<void>;

/**
 * Writes a tar file that only this account can read. It has another name until it is complete, so
 * that an interrupted run leaves no file that looks complete. `isCompressed`: the tar file as a
 * whole is compressed (.tar.gz).
 */
export async function writeArchive<T>(
  path: string,
  { isCompressed = false }: { isCompressed?: boolean },
  work: (add: AddFile) => Promise<T>,
): Promise<T> {
  const target = pathOf(path);
  if (existsSync(target))
    throw new Failure(`${path} already exists. Give another name, or remove it`);
  const partial = `${target}.${process.pid}.partial`;
  const archive = pack();
  const output = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
  const written = isCompressed
    ? pipeline(archive, createGzip(), output)
    : pipeline(archive, output);
  const add: AddFile = (name, content) =>
    new Promise((resolve, reject) => {
      written.catch(reject);
      archive.entry({ name, mode: 0o600, mtime: new Date() }, content, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  try {
    const result = await work(add);
    archive.finalize();
    await written;
    renameSync(partial, target);
    return result;
  } catch (error) {
    archive.destroy();
    // When the file cannot be written, the archive refuses further entries with an error that
    // does not say why.
    const cause = await written.then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    );
    await finished(output).catch(() => {});
    rmSync(partial, { force: true });
    if (cause?.syscall !== undefined) throw new Failure(`Cannot write ${path}: ${cause.message}`);
    throw error;
  }
}

export interface ArchivedFile {
  name: string;
  content: Buffer;
  /** Bytes of the archive that have been read so far. */
  bytesRead: number;
}

/** Thrown for a file that is not a complete archive, or has entries that are not allowed. */
export class InvalidArchive extends Error {}

const blockBytes = 512;

/**
 * Passes on a tar file that has only files. tar-stream collects extended headers and long names in
 * memory, whatever size they say they have, before it emits an entry; no archive of ours has one.
 */
async function* refuseBuffered(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let header = Buffer.alloc(0);
  let contentLeft = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      if (contentLeft > 0) {
        const passed = Math.min(contentLeft, chunk.length - at);
        contentLeft -= passed;
        at += passed;
        continue;
      }
      const part = chunk.subarray(at, at + blockBytes - header.length);
      header = Buffer.concat([header, part]);
      at += part.length;
      if (header.length < blockBytes) continue;
      contentLeft = Math.ceil(sizeIn(header) / blockBytes) * blockBytes;
      header = Buffer.alloc(0);
    }
    yield chunk;
  }
}

/** The size of a file in its header: 11 octal digits. The two empty blocks at the end have none. */
function sizeIn(header: Buffer): number {
  if (header.every((byte) => byte === 0)) return 0;
  const digits = /^([0-7]{11})[ \0]$/.exec(header.toString('latin1', 124, 136))?.[1];
  if (digits === undefined) throw new InvalidArchive('it is damaged or not complete');
  const type = header.toString('latin1', 156, 157);
  if (type !== '0') throw new InvalidArchive('it contains something other than files');
  return parseInt(digits, 8);
}

/**
 * Reads the files of a tar file one after the other. `maxBytes` is the largest allowed size of a
 * file, by its name.
 */
export async function* readArchive(
  path: string,
  maxBytes: (name: string) => number,
): AsyncGenerator<ArchivedFile, void, undefined> {
  const source = createReadStream(pathOf(path));
  const entries = extract();
  const copied = pipeline(source, refuseBuffered, entries);
  copied.catch(() => {}); // the loop below throws the same error
  try {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header;
      if (type !== 'file') throw new InvalidArchive(`it contains a ${type}`);
      if (size > maxBytes(name)) throw new InvalidArchive(`${name} is too large`);
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      yield { name, content: Buffer.concat(parts), bytesRead: source.bytesRead };
    }
    await copied;
  } catch (error) {
    if (/tar header|end of data|premature/i.test((error as Error).message))
      throw new InvalidArchive('it is damaged or not complete');
    throw error;
  } finally {
    source.destroy();
    entries.destroy();
  }
}
