import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { MigrationList } from '@prisma/schema-engine-wasm';
import { type Db, readDatabaseUrl } from './client';
import { loadSchemaEngine } from './migration-engine';

export interface MigrateOptions {
  databaseUrl: string;
  /** Folder with `<name>/migration.sql`. Default: `prisma/migrations` in the working directory. */
  migrationsDir?: string;
  log?: (line: string) => void;
}

/** Key of the advisory lock of migrations: a 64-bit number that no other lock uses. */
const migrationLock = '7290316055841';

/**
 * Applies the missing migrations. Processes that start together wait for one advisory lock, so each migration is applied
 * once. Throws with the message of the database when a migration fails.
 */
export async function migrate({
  databaseUrl,
  migrationsDir,
  log = () => {},
}: MigrateOptions): Promise<{ applied: string[] }> {
  const folder = migrationsDir ?? defaultMigrationsDir();
  if (readDatabaseUrl(databaseUrl).isPooled)
    throw new Error(
      'Migrations cannot run through PgBouncer: they lock a session. Use the address of PostgreSQL itself',
    );
  const lock = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // A broken connection fails its statement. Without a listener the event would end the process.
  lock.on('error', () => {});
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [migrationLock]);
    const pending = await pendingMigrations(lock, folder);
    if (pending.length === 0) return { applied: [] };
    log(`Applying ${countOf(pending)}`);
    // A failed or interrupted migration was rolled back, and the lock excludes other processes, so it is applied again.
    await lock.query(`do 'begin if to_regclass(''_prisma_migrations'') is not null then
      delete from _prisma_migrations where finished_at is null; end if; end'`);
    const engine = await loadSchemaEngine(databaseUrl);
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: readMigrations(folder),
      filters: { externalTables: [], externalEnums: [] },
    });
    return { applied: appliedMigrationNames };
  } finally {
    await lock.end();
  }
}

/**
 * Returns why this code cannot run on this database, with the command that fixes it: a migration is missing or failed, or
 * the database is newer than the code. Returns null when there is no problem.
 */
export async function schemaProblem(
  { pool: client }: Pick<Db, 'pool'>,
  migrationsDir: string = defaultMigrationsDir(),
): Promise<string | null> {
  const pending = await pendingMigrations(client, migrationsDir);
  if (pending.length > 0) return `The database lacks ${countOf(pending)} (${shownNames(pending)}). Run: parley migrate`;
  const known = new Set(migrationNames(migrationsDir));
  const { rows } = await client.query<{ migration_name: string }>('select migration_name from _prisma_migrations');
  const unknown = rows.map((row) => row.migration_name).filter((name) => !known.has(name));
  return unknown.length === 0
    ? null
    : `The database is newer than this version: it has ${shownNames(unknown)}. Deploy the version that applied it.`;
}

const countOf = (names: string[]): string => `${names.length} migration${names.length === 1 ? '' : 's'}`;

/** A new database lacks them all, and a line of all names would hide what to do. */
const shownNames = (names: string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;

async function pendingMigrations(client: Pick<pg.Pool, 'query'>, folder: string): Promise<string[]> {
  const { rows: tables } = await client.query<{ found: boolean }>(
    `select to_regclass('_prisma_migrations') is not null as found`,
  );
  if (!tables[0]?.found) return migrationNames(folder);
  const { rows } = await client.query<{ migration_name: string }>(
    'select migration_name from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  );
  const applied = new Set(rows.map((row) => row.migration_name));
  return migrationNames(folder).filter((name) => !applied.has(name));
}

/** In the working directory of a checkout, or next to the bundle in an image. */
function defaultMigrationsDir(): string {
  const candidates = [join(process.cwd(), 'prisma/migrations'), join(__dirname, 'prisma/migrations')];
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined) throw new Error(`No migrations found in ${candidates.join(' or ')}`);
  return found;
}

/** Returns the names of the migrations of this version, in order. */
export function migrationNames(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function readMigrations(folder: string): MigrationList {
  const lockfile = join(folder, 'migration_lock.toml');
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: existsSync(lockfile) ? readFileSync(lockfile, 'utf8') : null },
    migrationDirectories: migrationNames(folder).map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok', value: readFileSync(join(folder, name, 'migration.sql'), 'utf8') },
      },
    })),
    shadowDbInitScript: '',
  };
}
