import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readDatabaseUrl } from './client';
import { isDatabaseUnavailable } from './database-unavailable';
import { concurrentSteps } from './concurrent-steps';
import { compareSchema, countOf, defaultMigrationsDir, unknownProblem } from './schema-problem';

export interface MigrateOptions {
  databaseUrl: string;
  /** Folder with `<name>/migration.sql`. Default: `prisma/migrations` in the working directory. */
  migrationsDir?: string;
  log?: (line: string) => void;
  /** For how long a migration whose tables are in use is tried again. Default: 15 minutes. */
  retryForMs?: number;
}

export interface Migrated {
  applied: string[];
  /** Expansions of a newer version, which the database has and this version does not know. */
  newer: string[];
}

/** Key of the advisory lock of migrations: a 64-bit number that no other lock uses. */
const migrationLock = '7290316055841';
const lockRetryMs = 250;

const sessionOptions = [
  // The role or the address may have a time limit, which a migration must not have.
  '-c statement_timeout=0 -c idle_session_timeout=0',
  // Statements of the services wait behind a migration that waits for a table. It must exceed
  // deadlock_timeout (1 s), after which an automatic vacuum makes way.
  '-c lock_timeout=2s',
  // Rolls the migration of a process that was killed back, so that the next one does
  // not wait for it.
  '-c client_connection_check_interval=2s',
].join(' ');

/**
 * Applies the missing migrations in order. Processes that start together wait for one advisory
 * lock, so each migration is applied once. Fails with the message of the database when a
 * migration fails, and when the database has a migration of a newer version that this version
 * does not work with.
 */
export async function migrate({
  databaseUrl,
  migrationsDir: folder = defaultMigrationsDir(),
  log = () => {},
  retryForMs = 15 * 60_000,
}: MigrateOptions): Promise<Migrated> {
  const { url, isPooled, options } = readDatabaseUrl(databaseUrl);
  if (isPooled)
    throw new Error(
      'Migrations cannot run through PgBouncer: they lock a session. Use the address of PostgreSQL itself',
    );
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    options: `${options} ${sessionOptions}`,
    application_name: 'parley-migrate',
    keepAlive: true,
  });
  // A broken connection fails its statement. Without a listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    // Without the lock: a process of an earlier version, which has nothing to apply, does not wait
    // for a newer one that migrates.
    const found = await pendingMigrations(client, folder);
    if (found.pending.length === 0) return { applied: [], newer: found.newer };
    await waitForLock(client, log);
    const { pending, newer } = await pendingMigrations(client, folder);
    if (pending.length > 0) log(`Applying ${countOf(pending)}`);
    await client.query(createMigrationTable);
    for (const name of pending) await applyMigration(client, folder, name, { log, retryForMs });
    return { applied: pending, newer };
  } finally {
    await client.end();
  }
}

async function pendingMigrations(
  client: pg.Client,
  folder: string,
): Promise<{ pending: string[]; newer: string[] }> {
  const found = await compareSchema(client, folder);
  const problem = unknownProblem(found.newer);
  if (problem !== null) throw new Error(problem);
  return found;
}

/**
 * Asks for the lock again and again: a statement that waits for it would hold a snapshot, which
 * `create index concurrently` of the process that has the lock waits for.
 */
async function waitForLock(client: pg.Client, log: (line: string) => void): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await client.query<{ is_locked: boolean }>(
      'select pg_try_advisory_lock($1) as is_locked',
      [migrationLock],
    );
    if (rows[0]!.is_locked) return;
    if (isFirst) log('Another process is migrating the database. Waiting for it');
    await sleep(lockRetryMs);
  }
}

/**
 * The table of Prisma, so that its commands can be used on the database. An entry that has not
 * ended is of Prisma's.
 */
const createMigrationTable = `
  create table if not exists _prisma_migrations (
    id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
    logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0);
  delete from _prisma_migrations where finished_at is null`;

/**
 * Applies one migration and records it, in one transaction. A migration that builds indexes
 * concurrently cannot be in a transaction: its statements run one by one, and all again when one of
 * them has failed.
 */
async function applyMigration(
  client: pg.Client,
  folder: string,
  name: string,
  { log, retryForMs }: { log: (line: string) => void; retryForMs: number },
): Promise<void> {
  const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
  const checksum = createHash('sha256').update(sql).digest('hex');
  const record = `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
    values (${[randomUUID(), checksum, name].map(pg.escapeLiteral).join(', ')}, now(), 1)`;
  // One query of several statements is one transaction.
  const isBuilding = isConcurrent(sql);
  const steps = isBuilding
    ? ['set lock_timeout = 0', ...statementsOf(sql), 'reset lock_timeout', record]
    : [`${sql}\n;\n${record}`];
  const deadlineMs = Date.now() + retryForMs;
  for (let delayMs = 500; ; delayMs = Math.min(2 * delayMs, 10_000)) {
    try {
      for (const step of steps)
        for (const one of isBuilding ? await concurrentSteps(client, step) : [step])
          await client.query(one);
      return;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      const message = (error as Error).message;
      if (!isLocked(error) || Date.now() + delayMs > deadlineMs)
        throw new Error(`Migration ${name} failed: ${message}`, { cause: error });
      log(
        `Migration ${name} was rolled back, because its tables are in use (${message}). Trying again in ${delayMs} ms`,
      );
      await sleep(delayMs);
    }
  }
}

const isConcurrent = (sql: string): boolean =>
  /^\s*(create|drop|reindex)\b.*\bconcurrently\b/im.test(sql);

/**
 * The statements of a migration without functions: each ends with a semicolon at the end of a line.
 */
const statementsOf = (sql: string): string[] =>
  sql.split(/;[ \t]*$/m).filter((part) => /^\s*[a-z]/im.test(part));

/** 55P03: a lock was not available in time. 40P01: deadlock. */
const isLocked = (error: unknown): boolean =>
  ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');
