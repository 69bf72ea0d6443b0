import type { Scope } from '@parley/contracts';
import pg from 'pg';
import { statementObserver } from './observe-statements';
import { type NoteUse, limitPreparedStatements } from './prepared-statements';
import { shareConnections } from './share-connections';
import { type Statement, type Values, orderValues } from './statement';
import { type Connection, inTransaction } from './transaction';

/**
 * Why a statement may access the rows of several tenants. Adding a reason is an architectural
 * decision (docs/adr/0033).
 */
export type CrossTenantReason =
  /** Authentication: an API key or a session, before its organization is known. */
  | 'key look-up'
  | 'session look-up'
  /** A webhook, which identifies a number, a token or a customer and no organization. */
  | 'inbound webhook'
  /** The relay, which creates trigger runs in the order of the events. */
  | 'relay'
  /** Finding due work of all tenants. */
  | 'due work'
  /** Maintenance of all rows: retention, indexes, expired records. */
  | 'sweep'
  /** Deletion of organizations. */
  | 'purge'
  /** Metrics and log lines of the whole installation. */
  | 'metrics'
  /** A CLI command or a check of `parley doctor`, by an operator with access to the database. */
  | 'operator command';

/** The tenant whose rows a statement may access. A `Scope` is also a `Tenant`. */
export type Tenant = Pick<Scope, 'tenant'>;

/** A tenant, or the id of an organization for statements on the tables that define tenants. */
type Subject = Tenant | Pick<Scope, 'organizationId'>;

export interface Result<T> {
  rows: T[];
  /** Number of returned rows, or of changed rows when the statement returns no rows. */
  rowCount: number;
}

const keyOf = (subject: Subject): string =>
  'tenant' in subject ? String(subject.tenant) : subject.organizationId;

const tenantOf = (subject: Partial<Tenant> | CrossTenantReason): number | undefined =>
  typeof subject === 'object' ? subject.tenant : undefined;

/** Runs statements: the database, or one of its transactions. */
export interface Queryable {
  /** Runs a statement on the rows of one tenant. */
  query<T>(subject: Subject, statement: Statement<T>, values?: Values): Promise<Result<T>>;
  /** Runs a statement on the rows of several tenants. */
  acrossTenants<T>(
    reason: CrossTenantReason,
    statement: Statement<T>,
    values?: Values,
  ): Promise<Result<T>>;
  /**
   * Calls `callback` after the commit of the transaction, not after a rollback. Outside a
   * transaction, immediately.
   */
  afterCommit(callback: () => void): void;
}

export interface Db extends Queryable {
  /**
   * Runs `work` in a transaction, which is rolled back when it throws. Its connection is taken by
   * the first statement and counts towards the share of that statement's tenant, or of none if it
   * is across tenants. `work` must not run statements of the tenant outside of `tx`. A tenant can
   * run only a few transactions and statements with `isLong` at the same time.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: { isLong?: boolean }): Promise<T>;
  /** Waits for the advisory lock with this name and runs `work` on the connection that holds it. */
  locked<T>(name: string, work: (connection: Queryable) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
  /** The pool of the driver, only for this library, metrics of connections and tests. */
  pool: pg.Pool;
}

/** Runs a statement, which it sees by its name only: values never leave this library. */
export type ObserveStatement = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export interface DbOptions {
  /**
   * `?pgbouncer=true` and `?pgbouncer=prepared` mark the address of a PgBouncer in
   * transaction mode.
   */
  databaseUrl: string;
  poolSize?: number;
  /** Maximum duration of a statement. Default: 30 s. */
  timeoutMs?: number;
  /** Maximum wait for a connection. Default: 5 s. */
  connectTimeoutMs?: number;
  /** Statements that write fail. Behind PgBouncer, only a standby ensures this. */
  isReadOnly?: boolean;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  onError?: (error: Error) => void;
  /** Runs each statement. */
  observe?: ObserveStatement;
}

/**
 * The best plan of a statement does not depend on its values (docs/adr/0003), so generic plans are
 * forced: planning or JIT compilation for each execution would take longer than the execution.
 */
const sessionOptions = [
  '-c jit=off -c plan_cache_mode=force_generic_plan',
  // Ends the transaction of a process that has stopped, which would otherwise keep its locks.
  '-c idle_in_transaction_session_timeout=10s',
].join(' ');

/**
 * How much later than PostgreSQL the client ends a statement. Then the server is silent, and the
 * connection is closed.
 */
const silenceMs = 2_000;

/**
 * Opens the database with a pool of connections. A wait for a connection ends after
 * `connectTimeoutMs`, a statement after `timeoutMs`. Connects at the first use, so a process can
 * start before its database. Behind PgBouncer, session options must be set on the role, and
 * statements are prepared only if it keeps them (docs/operations.md).
 */
export function createDb({
  databaseUrl,
  poolSize = 10,
  timeoutMs = 30_000,
  connectTimeoutMs = 5_000,
  isReadOnly = false,
  applicationName = 'parley',
  onError,
  observe,
}: DbOptions): Db {
  const { url, isPooled, preparesStatements, options } = readDatabaseUrl(databaseUrl);
  const readOnly = isReadOnly ? ' -c default_transaction_read_only=on' : '';
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    // These connections stay open and need no idle timer, which would be set and cleared
    // for each statement.
    min: Math.min(2, poolSize),
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: timeoutMs + silenceMs,
    keepAlive: true,
    // PgBouncer refuses options of a session, because its connections are shared.
    ...(!isPooled && {
      statement_timeout: timeoutMs,
      options: `${sessionOptions}${readOnly} ${options}`,
    }),
  });
  // A broken idle connection is replaced at the next use. Without a listener the event would
  // end the process.
  pool.on('error', (error) => onError?.(error));
  // A connection may also break before its first user has added a listener. Its next
  // statement fails.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const queryable = createQueryable(
    preparesStatements ? limitPreparedStatements(pool, { isPooled }) : null,
    observe,
  );
  const direct = queryable(pool);
  const share = shareConnections({ poolSize, waitMs: connectTimeoutMs, longWaitMs: timeoutMs / 2 });
  const connect = async (
    subject?: Subject,
    options?: { isLong?: boolean },
  ): Promise<Connection> => {
    const free = subject && (await share.take(keyOf(subject), options));
    try {
      return { client: await pool.connect(), free };
    } catch (error) {
      free?.();
      throw error;
    }
  };
  return {
    ...direct,
    query(subject, statement, values) {
      const key = keyOf(subject);
      const run = () => direct.query(subject, statement, values);
      const free = statement.isLong ? null : share.tryTake(key);
      return free !== null
        ? run().finally(free)
        : share.take(key, statement).then((free) => run().finally(free));
    },
    async transaction(work, options) {
      const callbacks: (() => void)[] = [];
      const result = await inTransaction(
        (subject?: Subject) => connect(subject, options),
        (open) =>
          work({
            query: async (subject, ...rest) =>
              queryable(await open(subject)).query(subject, ...rest),
            acrossTenants: async (...all) => queryable(await open()).acrossTenants(...all),
            afterCommit: (callback) => void callbacks.push(callback),
          }),
      );
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

/** Runs statements on a connection that this library has opened for one transaction. */
export const queryableOf = (client: pg.ClientBase): Queryable =>
  createQueryable(null)(client as unknown as Pick<pg.Pool, 'query'>);

/**
 * Runs statements on a client. Without `noteUse` they are not prepared, because the next one may
 * use another connection.
 */
function createQueryable(
  noteUse: NoteUse | null,
  observe: ObserveStatement = (_name, run) => run(),
): (client: Pick<pg.Pool, 'query'>) => Queryable {
  const check = statementObserver();
  return (client) => {
    const run = <T>(
      subject: object | CrossTenantReason,
      statement: Statement<T>,
      given: Values = {},
    ) => {
      const { text } = statement;
      const values = orderValues(statement as Statement, given, tenantOf(subject));
      const name = noteUse === null ? undefined : statement.preparedAs;
      if (name !== undefined) noteUse!(name, text);
      const send = (on: Pick<pg.Pool, 'query'>) =>
        on.query({ name, text, values }) as unknown as Promise<Result<T>>;
      return observe(statement.name, () =>
        check === undefined
          ? send(client)
          : check(client, subject, statement as Statement, values, send),
      );
    };
    return { query: run, acrossTenants: run, afterCommit: (callback) => callback() };
  };
}

interface DatabaseAddress {
  /** The address for the driver. */
  url: string;
  /**
   * It belongs to a PgBouncer in transaction mode: `pgbouncer=true`, the parameter of Prisma, or
   * `pgbouncer=prepared`.
   */
  isPooled: boolean;
  /**
   * Statements are prepared by name: not with `pgbouncer=true`, as PgBouncer before 1.21
   * does not keep them.
   */
  preparesStatements: boolean;
  /** Session options: `options=-c…`, the parameter of libpq. */
  options: string;
}

/** Parses DATABASE_URL. */
export function readDatabaseUrl(databaseUrl: string): DatabaseAddress {
  if (!/[?&](pgbouncer|options)=/.test(databaseUrl))
    return { url: databaseUrl, isPooled: false, preparesStatements: true, options: '' };
  const url = new URL(databaseUrl);
  const pooler = url.searchParams.get('pgbouncer');
  const options = url.searchParams.get('options') ?? '';
  for (const name of ['pgbouncer', 'options']) url.searchParams.delete(name);
  return {
    url: url.href,
    isPooled: pooler === 'true' || pooler === 'prepared',
    preparesStatements: pooler !== 'true',
    options,
  };
}
