import type { Scope } from '@parley/contracts';
import pg from 'pg';
import type { Statement } from './statement';
import { createStatementCheck } from './testing/check-statements';

/** Why a statement may touch the rows of more than one tenant. The list is closed: a new reason is a decision. */
export type CrossTenantReason =
  /** Who is asking: an API key or a session, before its organization is known. */
  | 'key look-up'
  | 'session look-up'
  /** A provider's request, which names a number, a token or a customer and no organization. */
  | 'inbound webhook'
  /** Planning of trigger runs, in the order of the events. */
  | 'relay'
  /** Work that is due: found by its time, claimed by its id. */
  | 'due work'
  /** Maintenance of all rows: retention, indexes, expired records. */
  | 'sweep'
  /** Deletion of organizations. */
  | 'purge'
  /** Figures and log lines about the whole deployment. */
  | 'metrics'
  /** A CLI command or a `parley doctor` check, run by someone who has access to the database. */
  | 'operator command';

/** Whose rows a statement may touch; a `Scope` is one. */
export type Tenant = Pick<Scope, 'tenant'>;

/** A tenant, or the id of an organization: for statements on the tables that say which tenants there are. */
type Subject = Tenant | Pick<Scope, 'organizationId'>;

export interface Result<T> {
  rows: T[];
  /** Number of rows returned, or of rows changed when the statement returns none. */
  rowCount: number;
}

/** What runs statements: the database, or a transaction in it. */
export interface Queryable {
  /** Runs a statement on the rows of one tenant. */
  query<T>(subject: Subject, statement: Statement<T>, values?: readonly unknown[]): Promise<Result<T>>;
  /** Runs a statement that no tenant limits. */
  acrossTenants<T>(reason: CrossTenantReason, statement: Statement<T>, values?: readonly unknown[]): Promise<Result<T>>;
  /** Calls back when the transaction has committed, never when it is rolled back. Outside of a transaction at once. */
  afterCommit(callback: () => void): void;
}

export interface Db extends Queryable {
  /** Runs `work` in one transaction on one connection; rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Waits for the advisory lock of this name, and runs `work` on the connection that holds it. */
  locked<T>(name: string, work: (connection: Queryable) => Promise<T>): Promise<T>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
  /** The driver's pool, for this library, connection metrics and tests only. */
  pool: pg.Pool;
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
 * The database, on a pool of connections. Every wait has an end: 5 s for a connection, 30 s for a statement.
 * Connects lazily, so a process may start before its database. Behind a PgBouncer what is set for a session is the
 * role's business (docs/operations.md), and nothing may be prepared that a later transaction would look for.
 */
export function createDb({ databaseUrl, poolSize = 10, applicationName = 'parley', onError }: DbOptions): Db {
  const { url, isPooled, options } = readDatabaseUrl(databaseUrl);
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
    ...(!isPooled && { statement_timeout: 30_000, options: `${sessionOptions} ${options}` }),
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => onError?.(error));
  // So would one that breaks just when it is handed out, before whoever asked for it can listen. Its next statement tells.
  pool.on('connect', (client) => void client.on('error', () => {}));
  if (!isPooled) boundPrepared(pool);
  const queryable = createQueryable(isPooled);
  return {
    ...queryable(pool),
    async transaction(work) {
      const callbacks: (() => void)[] = [];
      const afterCommit = (callback: () => void) => void callbacks.push(callback);
      const result = await inTransaction(pool, (client) => work({ ...queryable(client), afterCommit }));
      for (const callback of callbacks) callback();
      return result;
    },
    async locked(name, work) {
      const client = await pool.connect();
      try {
        await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
        return await work(queryable(client));
      } finally {
        client.release(true); // closing the connection releases the lock
      }
    },
    ping: async () => void (await pool.query('select 1')),
    close: () => pool.end(),
    pool,
  };
}

/** Runs statements on a client. `isPooled`: nothing is prepared, as the next transaction may be on another connection. */
function createQueryable(isPooled: boolean): (client: Pick<pg.Pool, 'query'>) => Queryable {
  const { PARLEY_TEST_STATEMENTS: folder, PARLEY_TEST_PARTITIONS } = process.env;
  const check = folder ? createStatementCheck(folder, { isPartitioned: PARLEY_TEST_PARTITIONS === 'true' }) : null;
  return (client) => {
    const run = <T>(subject: object | CrossTenantReason, statement: Statement<T>, values: readonly unknown[] = []) => {
      const { text, preparedAs } = statement;
      const send = (on: Pick<pg.Pool, 'query'>) =>
        on.query({ name: isPooled ? undefined : preparedAs, text, values: values as unknown[] }) as unknown as Promise<
          Result<T>
        >;
      return check === null ? send(client) : check(client, subject, statement as Statement, send);
    };
    return {
      query: run,
      acrossTenants: run,
      afterCommit: (callback) => callback(),
    };
  };
}

/**
 * The address as the driver takes it, whether it is that of a PgBouncer in transaction mode (`pgbouncer=true`, as Prisma
 * writes it, too), and the session options that it adds to ours (`options=-c…`, as libpq writes it).
 */
export function readDatabaseUrl(databaseUrl: string): { url: string; isPooled: boolean; options: string } {
  if (!/[?&](pgbouncer|options)=/.test(databaseUrl)) return { url: databaseUrl, isPooled: false, options: '' };
  const url = new URL(databaseUrl);
  const isPooled = url.searchParams.get('pgbouncer') === 'true';
  const options = url.searchParams.get('options') ?? '';
  if (isPooled) url.searchParams.delete('pgbouncer');
  url.searchParams.delete('options');
  return { url: url.href, isPooled, options };
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

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
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
