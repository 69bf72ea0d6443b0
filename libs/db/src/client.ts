import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client';

/** Anything that runs one SQL statement: the pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

export interface Db {
  pool: pg.Pool;
  prisma: PrismaClient;
  close(): Promise<void>;
}

export interface DbOptions {
  databaseUrl: string;
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  onError?: (error: Error) => void;
}

/**
 * Prisma and raw SQL on one shared pool. Every wait has an end: 5 s for a connection, 30 s for a statement.
 * Connects lazily, so a process may start before its database.
 */
export function createDb({ databaseUrl, poolSize = 10, applicationName = 'parley', onError }: DbOptions): Db {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: poolSize,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    query_timeout: 35_000,
    keepAlive: true,
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => onError?.(error));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    pool,
    prisma,
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Runs `work` in one transaction on one connection; rolls back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
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
  'P1001',
  'P1002',
  'P1017',
  'P2024',
]);

/** Whether an error says that PostgreSQL cannot be reached now, however deep a driver or Prisma has wrapped it. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    const { code, message } = current as Error & { code?: unknown };
    if (typeof code === 'string' && unavailableCodes.has(code)) return true;
    if (
      /Connection terminated|timeout exceeded when trying to connect|Can't reach database|Query read timeout/i.test(
        message,
      )
    )
      return true;
    if (current instanceof AggregateError && current.errors.some(isDatabaseUnavailable)) return true;
    current = current.cause;
  }
  return false;
}
