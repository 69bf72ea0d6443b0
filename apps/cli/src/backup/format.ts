import { z } from 'zod';

/*
 * A backup is a tar file: manifest.json, the rows of each table as gzip files in PostgreSQL's COPY
 * text format, end.json, and a checksum of all of them (docs/adr/0052).
 */

/**
 * Uncompressed bytes of a file with rows. A row may span several. Bounds memory, also for a file
 * made to exhaust it.
 */
export const chunkBytes = 1024 ** 2;

/** Incompressible bytes grow by less than this when they are compressed. */
const gzipOverhead = 4_096;

export const manifestName = 'manifest.json';
export const endName = 'end.json';
export const checksumName = 'sha256';

export const chunkName = (table: string, no: number): string =>
  `tables/${table}/${String(no).padStart(6, '0')}.gz`;

export const tableOfChunk = (name: string): string | undefined =>
  /^tables\/(\w{1,63})\/\d{6,9}\.gz$/.exec(name)?.[1];

export const maxBytesOf = (name: string): number =>
  tableOfChunk(name) === undefined ? 1024 ** 2 : chunkBytes + gzipOverhead;

const name = z.string().regex(/^\w{1,63}$/, 'must be the name of a table or column');

export const manifestSchema = z.object({
  format: z.literal('parley-backup'),
  /** Version of this format. */
  version: z.literal(1),
  createdAt: z.iso.datetime('must be a time'),
  /** Versions of the product and of PostgreSQL, for people. */
  parley: z.string().max(100),
  postgres: z.string().max(100),
  /** Applied migrations, in order: the version of the schema. */
  migrations: z.array(z.string().max(200)).max(10_000),
  /** In the order of the file: each table after those that its foreign keys reference. */
  tables: z.array(z.object({ name, columns: z.array(name).min(1).max(1_600) })).max(10_000),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const endSchema = z.object({
  /** Number of rows by table. */
  rows: z.record(name, z.int().nonnegative()),
  /** Last value by sequence. */
  sequences: z.record(name, z.string().regex(/^\d{1,19}$/, 'must be digits')),
});
export type End = z.infer<typeof endSchema>;

/** What a reader of a backup gets, in this order. */
export type BackupPart =
  | { kind: 'manifest'; manifest: Manifest }
  /** A piece of a table's rows. */
  | { kind: 'rows'; table: string; rows: Buffer; bytesRead: number }
  /** The file is complete and unchanged. */
  | { kind: 'end'; end: End; checksum: string };

/**
 * The number of lines, which is the number of rows: COPY writes a line break within
 * a value as `\n`.
 */
export function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines += 1;
  return lines;
}
