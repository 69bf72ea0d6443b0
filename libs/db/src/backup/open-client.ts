import pg from 'pg';
import { readDatabaseUrl } from '../client';

/**
 * Settings of the text format of values, so that it does not depend on the server,
 * and no time limits.
 */
const settings = {
  datestyle: 'ISO, YMD',
  intervalstyle: 'iso_8601',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  // With row security, a role would silently read a part of the rows.
  row_security: 'off',
};

/**
 * Opens one connection, runs `work` in a transaction of this kind on it, and closes it. Rolls back
 * when `work` throws.
 */
export async function withTransaction<T>(
  databaseUrl: string,
  begin: 'begin' | 'begin isolation level repeatable read, read only',
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: readDatabaseUrl(databaseUrl).url,
    application_name: 'parley-backup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A broken connection fails its statement. Without a listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(begin);
    await client.query(
      'select set_config(name, value, true) from json_each_text($1) s(name, value)',
      [JSON.stringify(settings)],
    );
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    // Closing the connection rolls back what is not committed, also when a statement still runs.
    await client.end().catch(() => {});
  }
}
