import { rejectOnAbort } from '@parley/outbound';
import pg from 'pg';
import {
  type Db,
  type ObserveStatement,
  type Queryable,
  createDb,
  readDatabaseUrl,
} from './client';
import { createReplicaLag } from './replica-lag';

/** The variables of a service that may read from a replica (`replicaVariables` of libs/service). */
interface ReplicaSettings {
  READ_DATABASE_URL?: string;
  READ_DATABASE_POOL_SIZE: number;
  DATABASE_TIMEOUT_MS: number;
}

export interface Replica {
  /**
   * Reads from the replica while it is at most a second behind, else from the primary. Has no
   * transactions. The same as the primary when no replica is configured.
   */
  reads: Db;
  /**
   * How far the replica is behind, in seconds; null when it is not known or there is no replica.
   */
  lagSeconds(): number | null;
  close(): Promise<void>;
}

type Server = 'replica' | 'primary';

interface Options {
  primary: Db;
  name: string;
  log: { warn(fields: object, text: string): void; info(fields: object, text: string): void };
  /** Called with the server that has answered a statement. */
  onRead?: (server: Server) => void;
  observe?: ObserveStatement;
}

/** How often the lag is measured, and the limit of a measurement. */
const checkMs = 1_000;
/** A replica that is further behind is not used. */
const maxLagMs = 1_000;
/** How long a measurement holds. The next one should be made before its end. */
const holdsMs = 2 * checkMs;
/** A wait for one of the replica's connections. After it, the primary answers. */
const connectTimeoutMs = 1_000;

/**
 * Opens the replica, a standby with streaming replication, if there is one. Its lag is measured
 * once a second, and requests never wait for this. A statement that fails on the replica for any
 * reason, or hangs until a measurement fails, is repeated on the primary.
 */
export function openReplica(settings: ReplicaSettings, options: Options): Replica {
  const { primary, name, log, onRead = () => {}, observe } = options;
  const {
    READ_DATABASE_URL: databaseUrl,
    READ_DATABASE_POOL_SIZE: poolSize,
    DATABASE_TIMEOUT_MS,
  } = settings;
  if (databaseUrl === undefined)
    return { reads: primary, lagSeconds: () => null, close: async () => {} };

  const onError = (err: Error) => log.warn({ err }, 'an idle connection to the replica broke');
  const open = () =>
    createDb({
      databaseUrl,
      poolSize,
      onError,
      observe,
      connectTimeoutMs,
      isReadOnly: true,
      // The primary needs time to repeat the statement before the deadline of the request.
      timeoutMs: Math.round(DATABASE_TIMEOUT_MS / 3),
      applicationName: `${name}-reads`,
    });
  let replica = open();
  /** A connection of its own, so that a measurement does not wait for statements. */
  const checks = new pg.Pool({
    connectionString: readDatabaseUrl(databaseUrl).url,
    max: 1,
    application_name: `${name}-lag`,
    connectionTimeoutMillis: checkMs,
    query_timeout: checkMs,
  });
  checks.on('error', onError);
  checks.on('connect', (client) => void client.on('error', () => {}));

  const lag = createReplicaLag();
  let lagMs: number | null = null;
  let isUsed = false;
  let isClosed = false;
  let measuredAtMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let lost = new AbortController();
  const isUsable = () => isUsed && performance.now() - measuredAtMs < holdsMs;

  /** Decides whether the replica is used until the next measurement. */
  async function check(): Promise<void> {
    const startedAtMs = performance.now();
    const problem = await measure().catch((error: Error) => error);
    if (isClosed) return;
    lagMs = lag.ms();
    const use = problem === null && lagMs <= maxLagMs;
    if (use !== isUsed) {
      const fields = { lagMs, ...(problem !== null && { err: problem }) };
      if (use) log.info(fields, 'the replica is used');
      else log.warn(fields, 'the replica is not used until it is available and not behind');
    }
    isUsed = use;
    measuredAtMs = performance.now();
    timer = setTimeout(check, Math.max(0, checkMs - (measuredAtMs - startedAtMs))).unref();
  }

  async function measure(): Promise<null> {
    // The primary first: a replica that has replayed this position has everything that
    // was written before.
    const { rows } = await primary.pool.query<{ at: string }>(
      `select ${bytes('pg_current_wal_lsn()')} as at`,
    );
    lag.written(BigInt(rows[0]!.at));
    try {
      const { rows: found } = await checks.query<{ at: string | null }>(
        `select case when pg_is_in_recovery() then ${bytes('pg_last_wal_replay_lsn()')} end as at`,
      );
      const { at } = found[0]!;
      if (at === null)
        throw new Error('READ_DATABASE_URL is the address of a server that is not a standby');
      lag.replayed(BigInt(at));
      return null;
    } catch (error) {
      // Statements that run there are repeated now, and connections that may hang
      // are not used again.
      if (isUsed && !isClosed) {
        lost.abort();
        lost = new AbortController();
        void replica.close().catch(() => {});
        replica = open();
      }
      throw error;
    }
  }

  async function read<T>(run: (on: Queryable) => Promise<T>): Promise<T> {
    if (isUsable()) {
      try {
        const result = await rejectOnAbort(run(replica), lost.signal);
        onRead('replica');
        return result;
      } catch (error) {
        // A statement that writes is an error of this code.
        if ((error as { code?: string }).code === readOnlyCode) throw error;
      }
    }
    onRead('primary');
    return run(primary);
  }

  const refuse = async () => {
    throw new Error('A transaction needs the primary');
  };
  void check();
  return {
    reads: {
      ...primary,
      query: (subject, statement, values) => read((on) => on.query(subject, statement, values)),
      acrossTenants: (reason, statement, values) =>
        read((on) => on.acrossTenants(reason, statement, values)),
      transaction: refuse,
      locked: refuse,
    },
    lagSeconds: () => lagMs && lagMs / 1_000,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await Promise.all([checks.end(), replica.close()]);
    },
  };
}

const readOnlyCode = '25006';

/** SQL: a position of the log as a number of bytes. */
const bytes = (position: string): string => `(${position} - '0/0'::pg_lsn)::text`;
