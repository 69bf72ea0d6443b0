import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { type Queryable, type StoredTable, replaceRows } from '@parley/db';
import { Failure } from '../failure';
import { type BackupPart, type End, type Manifest, countLines } from './format';
import { readBackup } from './read-backup';

export interface CheckedBackup {
  manifest: Manifest;
  end: End;
  checksum: string;
  /** Number of rows of all tables. */
  rows: number;
}

/** Reads a whole backup and checks it, without writing anything. */
export async function checkBackup(
  file: string,
  onBytes: (read: number) => void,
): Promise<CheckedBackup> {
  let manifest: Manifest | undefined;
  for await (const part of readBackup(file)) {
    if (part.kind === 'manifest') manifest = part.manifest;
    else if (part.kind === 'rows') onBytes(part.bytesRead);
    else {
      const { end, checksum } = part;
      return {
        manifest: manifest!,
        end,
        checksum,
        rows: Object.values(end.rows).reduce((a, b) => a + b, 0),
      };
    }
  }
  throw new Error('readBackup ended without its last part');
}

interface RestoreOptions {
  databaseUrl: string;
  /** Throws when these tables have rows that must not be deleted. */
  isWanted: (filled: string[]) => void;
  onRows: (count: number) => void;
  /** Runs in the transaction of the restore, after its rows. */
  finish: (tx: Queryable) => Promise<void>;
}

/**
 * Replaces the rows of the database by those of a backup, in one transaction. The file is checked
 * again while it is read.
 */
export function restoreBackup(
  file: string,
  { manifest, checksum }: CheckedBackup,
  { databaseUrl, isWanted, onRows, finish }: RestoreOptions,
): Promise<void> {
  return replaceRows(databaseUrl, isWanted, async (loading) => {
    requireSameTables(manifest.tables, loading.tables);
    const parts = readBackup(file);
    const next = async (): Promise<BackupPart> => (await parts.next()).value!;
    try {
      let part = await next();
      const changed = new Failure(`${file} was changed while it was restored`);
      if (part.kind !== 'manifest' || !isDeepStrictEqual(part.manifest, manifest)) throw changed;
      part = await next();
      let loaded = 0;
      for (const table of manifest.tables) {
        const isOfTable = () => part.kind === 'rows' && part.table === table.name;
        if (!isOfTable()) continue;
        let given = loaded;
        const rows = async function* () {
          for (; part.kind === 'rows' && isOfTable(); part = await next()) {
            yield part.rows;
            onRows((given += countLines(part.rows)));
          }
        };
        loaded += await loading.load(table, Readable.from(rows(), { highWaterMark: 1 }));
      }
      if (part.kind !== 'end' || part.checksum !== checksum) throw changed;
      const expected = Object.values(part.end.rows).reduce((a, b) => a + b, 0);
      // PostgreSQL ends a table at a line `\.`, which no backup contains.
      if (loaded !== expected)
        throw new Failure(`${file} has ${expected} rows, but PostgreSQL read ${loaded}`);
      await loading.setSequences(part.end.sequences);
      await finish(loading.tx);
    } finally {
      await parts.return(undefined);
    }
  });
}

/**
 * A file of the same schema names the same tables and columns, unless someone changed one of them.
 */
function requireSameTables(inFile: StoredTable[], inDatabase: StoredTable[]): void {
  const known = new Map(inDatabase.map(({ name, columns }) => [name, new Set(columns)]));
  for (const { name, columns } of inFile) {
    const there = known.get(name);
    if (there === undefined)
      throw new Failure(`The backup has the table ${name}, which the database does not have`);
    const unknown = columns.find((column) => !there.has(column));
    if (unknown !== undefined || columns.length !== there.size)
      throw new Failure(`The columns of ${name} in the backup are not those of the database`);
    known.delete(name);
  }
  for (const name of known.keys())
    throw new Failure(`The database has the table ${name}, which the backup does not have`);
}
