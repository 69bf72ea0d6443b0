import type pg from 'pg';
import { isDatabaseUnavailable } from './database-unavailable';

export interface Connection {
  client: pg.PoolClient;
  /** Gives back the place in the share of a tenant. */
  free?: () => void;
}

/**
 * Runs `work` in a transaction that begins when it opens the connection for its first statement.
 * `subject`: whose statement that is, for `connect`.
 */
export async function inTransaction<S, T>(
  connect: (subject?: S) => Promise<Connection>,
  work: (open: (subject?: S) => Promise<pg.PoolClient>) => Promise<T>,
): Promise<T> {
  let connecting: Promise<Connection> | undefined;
  let begun: Promise<pg.PoolClient> | undefined;
  let isOver = false;
  let broken: Error | undefined;
  // Without a listener, a connection that breaks between two statements would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  const begin = async (subject?: S) => {
    const { client } = await (connecting = connect(subject));
    client.on('error', onError);
    await client.query('begin');
    return client;
  };
  const open = async (subject?: S) => {
    const client = isOver ? null : await (begun ??= begin(subject));
    // It may have ended meanwhile, because `work` has failed or has not waited for this statement.
    if (isOver || client === null) throw new Error('The transaction is over');
    return client;
  };
  try {
    const result = await work(open).finally(() => (isOver = true));
    await (await connecting)?.client.query('commit');
    return result;
  } catch (error) {
    const connection = await connecting?.catch(() => undefined);
    // A rollback would wait behind the statement that a silent server has not answered. Closing the
    // connection is one too.
    if (isDatabaseUnavailable(error)) broken ??= error as Error;
    else
      await connection?.client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    throw error;
  } finally {
    const connection = await connecting?.catch(() => undefined);
    connection?.client.off('error', onError);
    connection?.client.release(broken);
    connection?.free?.();
  }
}
