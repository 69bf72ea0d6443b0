import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, escapeIdentifier } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Queryable, queryableOf } from '../client';
import { withTransaction } from './open-client';
import { type StoredTable, listTables, readSequences } from './stored-tables';

/**
 * Replaces all rows of the database. Nothing is visible to others, or kept, until the
 * transaction commits.
 */
export interface Loading {
  tables: StoredTable[];
  /** Writes rows in PostgreSQL's COPY text format to a table. Returns the number of rows. */
  load(table: StoredTable, rows: Readable): Promise<number>;
  /**
   * Sets sequences to these values, unless they are past them: no number is given twice. Not
   * undone by a rollback.
   */
  setSequences(values: Record<string, string>): Promise<void>;
  tx: Queryable;
}

/** The tables could not be locked, because other processes use them. Nothing was changed. */
export class TablesInUse extends Error {}

const lockTimeout = '10s';
const lockAttempts = 5;

/**
 * Deletes all rows of the database and runs `work`, which loads others, in one transaction. Other
 * processes wait for it, or answer that the database is unavailable. `isWanted` decides, when no
 * one else can write, by the tables that have rows. Throws TablesInUse, and the error of `work`,
 * with the database as it was.
 */
export const replaceRows = async <T>(
  databaseUrl: string,
  isWanted: (filled: string[]) => void,
  work: (loading: Loading) => Promise<T>,
): Promise<T> => {
  const lock = async (client: Client, tables: StoredTable[]): Promise<void> => {
    const names = tables.map(({ name }) => escapeIdentifier(name)).join(', ');
    await client.query(`set local lock_timeout = '${lockTimeout}'`);
    try {
      await client.query(`lock table ${names} in access exclusive mode`);
    } catch (error) {
      // 55P03: not available in time. 40P01: a transaction that has one of the tables
      // waits for another.
      if (['55P03', '40P01'].includes((error as { code?: string }).code ?? ''))
        throw new TablesInUse();
      throw error;
    }
    isWanted(await findFilled(client, tables));
    await client.query(`truncate ${names}`);
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withTransaction(databaseUrl, 'begin', async (client) => {
        const { tables } = await listTables(client);
        await lock(client, tables);
        const result = await work(loadingOf(client, tables));
        await client.query(
          `analyze ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')}`,
        );
        return result;
      });
    } catch (error) {
      if (!(error instanceof TablesInUse) || attempt === lockAttempts) throw error;
      await sleep(200 * attempt);
    }
  }
};

/** Returns the names of the tables that have rows. */
export const filledTables = (databaseUrl: string): Promise<string[]> =>
  withTransaction(databaseUrl, 'begin isolation level repeatable read, read only', async (client) =>
    findFilled(client, (await listTables(client)).tables),
  );

async function findFilled(client: Client, tables: StoredTable[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ filled: boolean }>(
      `select exists (select from ${escapeIdentifier(name)}) as filled`,
    );
    if (rows[0]!.filled) found.push(name);
  }
  return found;
}

const loadingOf = (client: Client, tables: StoredTable[]): Loading => ({
  tables,
  async load({ name, columns }, rows) {
    const target = `${escapeIdentifier(name)} (${columns.map(escapeIdentifier).join(', ')})`;
    const copy = client.query(copyFrom(`copy ${target} from stdin`));
    await pipeline(rows, copy);
    return copy.rowCount;
  },
  async setSequences(values) {
    for (const [name, current] of Object.entries(await readSequences(client))) {
      if (BigInt(values[name] ?? 0) > BigInt(current))
        await client.query('select setval($1::regclass, $2)', [
          `public.${escapeIdentifier(name)}`,
          values[name],
        ]);
    }
  },
  tx: queryableOf(client),
});
