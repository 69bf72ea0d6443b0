import pg from 'pg';

/** Anything that runs one SQL statement: the pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

export interface Db {
  pool: pg.Pool;
  close(): Promise<void>;
}

export interface DbOptions {
  /** With `?pgbouncer=true`: through a PgBouncer in transaction mode. */
  databaseUrl: string;
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  onError?: (error: Error) => void;
}

/**
 * Statements are made so that their plan does not depend on their values (docs/adr/0003): planning them again for each set
 * of values would take longer than running them, and so would compiling them to machine code.
 */
const sessionOptions = [
  '-c jit=off -c plan_cache_mode=force_generic_plan',
  // A process that is stopped inside a transaction would keep its locks: then the server ends the transaction.
  '-c idle_in_transaction_session_timeout=10s',
].join(' ');

/**
 * Prisma and raw SQL on one shared pool. Every wait has an end: 5 s for a connection, 30 s for a statement.
 * Connects lazily, so a process may start before its database. Behind a PgBouncer what is set for a session is the
 * role's business (docs/operations.md), and nothing may be prepared that a later transaction would look for.
 */
export function createDb({ databaseUrl, poolSize = 10, applicationName = 'parley', onError }: DbOptions): Db {
  const { url, isPooled } = readDatabaseUrl(databaseUrl);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    // These stay open, and need no timer set and cleared around every statement.
    min: Math.min(2, poolSize),
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    query_timeout: 35_000,
    keepAlive: true,
    // A PgBouncer refuses what it cannot keep apart when it lends a connection to the next one.
    ...(!isPooled && { statement_timeout: 30_000, options: sessionOptions }),
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => onError?.(error));
  // So would one that breaks just when it is handed out, before whoever asked for it can listen. Its next statement tells.
  pool.on('connect', (client) => void client.on('error', () => {}));
  if (isPooled) prepareNothing(pool);
  else boundPrepared(pool);
  return { pool, close: () => pool.end() };
}

/** The address as the driver takes it, and whether it is that of a PgBouncer in transaction mode (as Prisma writes it, too). */
export function readDatabaseUrl(databaseUrl: string): { url: string; isPooled: boolean } {
  if (!/[?&]pgbouncer=true\b/.test(databaseUrl)) return { url: databaseUrl, isPooled: false };
  return {
    url: databaseUrl.replace(/([?&])pgbouncer=true(&|$)/, (_, before, after) => (after ? before : '')),
    isPooled: true,
  };
}

/** Statements go without their names, and are parsed each time: the next transaction may be on another connection. */
function prepareNothing(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const unnamed = (first: unknown) =>
      typeof first === 'object' && first !== null && 'name' in first ? { ...first, name: undefined } : first;
    Object.assign(client, { query: (first: unknown, ...rest: unknown[]) => query(unnamed(first), ...rest) });
  });
}

/** Prepared statements of one connection: one takes up to half a megabyte of the server's memory. */
const maxPrepared = 120;
const checkEvery = 16;

/**
 * The driver never gives up what a connection has prepared. When there is too much, all of it goes, and what is in use is
 * prepared again: a rare and short wait for the connection's next user.
 */
function boundPrepared(pool: pg.Pool): void {
  let released = 0;
  pool.on('release', (error, client) => {
    released += 1;
    if (error || released % checkEvery > 0) return;
    // Where the driver notes what it has prepared; it offers no other way to it.
    const { connection } = client as unknown as { connection: { parsedStatements: Record<string, string> } };
    if (Object.keys(connection.parsedStatements).length < maxPrepared) return;
    client.query('deallocate all', (failure: Error | null) => {
      if (!failure) connection.parsedStatements = {};
    });
  });
}

/** Runs `work` in one transaction on one connection; rolls back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // Between two statements a broken connection has nobody else to tell, and the event alone would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** Error codes of a server that is not reachable, shutting down, or out of connections: the caller may try later. */
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08003',
  '08006',
  '25006',
  '25P03',
  'P1001',
  'P1002',
  'P1017',
  'P2024',
]);

const unavailableText =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Can't reach database|Query read timeout/i;

/**
 * Whether an error says that PostgreSQL cannot be reached now, however deep a driver or Prisma has wrapped it. Errors are
 * known by their shape, as some come from another realm.
 */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const { code, message, cause, errors } = error as {
    code?: unknown;
    message?: unknown;
    cause?: unknown;
    errors?: unknown;
  };
  if (typeof code === 'string' && unavailableCodes.has(code)) return true;
  if (typeof message === 'string' && unavailableText.test(message)) return true;
  if (Array.isArray(errors) && errors.some((one) => isDatabaseUnavailable(one, depth + 1))) return true;
  return isDatabaseUnavailable(cause, depth + 1);
}
