import type { Readable } from 'node:stream';
import { escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { withTransaction } from './open-client';
import { type StoredTable, listTables, readSequences } from './stored-tables';

/** All rows of the database at one moment. */
export interface Snapshot {
  serverVersion: string;
  /** Names of the applied migrations, in order. */
  migrations: string[];
  /** Each table after the tables that its foreign keys reference. */
  tables: StoredTable[];
  estimatedRows: number;
  /**
   * The rows of a table in PostgreSQL's COPY text format: one line for each row. Tables are read
   * one after the other.
   */
  rowsOf(table: StoredTable): Readable;
  /** The last value of each sequence. Call it after the tables were read. */
  sequences(): Promise<Record<string, string>>;
}

/**
 * Runs `work` with a snapshot of the database: one transaction that only reads, and does
 * not delay others.
 */
export const readSnapshot = <T>(
  databaseUrl: string,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> =>
  withTransaction(
    databaseUrl,
    'begin isolation level repeatable read, read only',
    async (client) => {
      const { tables, estimatedRows } = await listTables(client);
      // A migration waits until the snapshot is read.
      await client.query(
        `lock table ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')} in access share mode`,
      );
      const { rows: migrations } = await client.query<{ name: string }>(
        `select migration_name as name from _prisma_migrations
       where finished_at is not null and rolled_back_at is null order by 1`,
      );
      const { rows: version } = await client.query<{ server_version: string }>(
        'show server_version',
      );
      return work({
        serverVersion: version[0]!.server_version,
        migrations: migrations.map(({ name }) => name),
        tables,
        estimatedRows,
        // A query, as COPY does not read a partitioned table by its name.
        rowsOf: ({ name, columns }) =>
          client.query(
            copyTo(
              `copy (select ${columns.map(escapeIdentifier).join(', ')} from ${escapeIdentifier(name)}) to stdout`,
            ),
          ),
        sequences: () => readSequences(client),
      });
    },
  );
