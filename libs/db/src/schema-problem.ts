import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { beforeBaselineProblem, isBeforeBaseline } from './baseline';
import type { Db } from './client';

/**
 * Returns why this code cannot run on this database, with the command that fixes it: a migration is
 * missing or failed, or the database has a migration of a newer version that is not an expansion.
 * Returns null when there is no problem.
 */
export const schemaProblem = async (
  db: Pick<Db, 'pool'>,
  migrationsDir?: string,
): Promise<string | null> => (await readSchema(db, migrationsDir)).problem;

/** As `schemaProblem`, and the migrations of a newer version that the database has. */
export async function readSchema(
  { pool: client }: Pick<Db, 'pool'>,
  migrationsDir: string = defaultMigrationsDir(),
): Promise<{ problem: string | null; newer: string[] }> {
  const { pending, newer } = await compareSchema(client, migrationsDir);
  return { problem: unknownProblem(newer) ?? pendingProblem(pending), newer };
}

function pendingProblem(pending: string[]): string | null {
  if (pending.length === 0) return null;
  return `The database lacks ${countOf(pending)} (${shownNames(pending)}). Run: parley migrate`;
}

/**
 * Returns the problem when one of these migrations, which this version does not know, changes more
 * than an expansion does, or is one that the baseline has replaced. An expansion only adds what
 * earlier versions ignore (docs/adr/0070). Its name says so, because an earlier version has only
 * that.
 */
export function unknownProblem(unknown: string[]): string | null {
  if (isBeforeBaseline(unknown)) return beforeBaselineProblem;
  const changing = unknown.filter((name) => !isExpansion(name));
  if (changing.length === 0) return null;
  return `The database is newer than this version: it has ${shownNames(changing)}. Deploy the version that applied it.`;
}

const isExpansion = (name: string): boolean => /^\d+_expand_/.test(name);

/**
 * Compares the applied migrations with those of this version: which are missing, and which a newer
 * version has applied.
 */
export async function compareSchema(
  client: Pick<pg.Pool, 'query'>,
  folder: string,
): Promise<{ pending: string[]; newer: string[] }> {
  const known = migrationNames(folder);
  const { rows: tables } = await client.query<{ found: boolean }>(
    `select to_regclass('_prisma_migrations') is not null as found`,
  );
  if (!tables[0]?.found) return { pending: known, newer: [] };
  const { rows } = await client.query<{ name: string; is_applied: boolean }>(
    `select migration_name as name, finished_at is not null and rolled_back_at is null as is_applied
     from _prisma_migrations order by 1`,
  );
  const applied = new Set(rows.filter((row) => row.is_applied).map(({ name }) => name));
  return {
    pending: known.filter((name) => !applied.has(name)),
    newer: rows.map(({ name }) => name).filter((name) => !known.includes(name)),
  };
}

export const countOf = (names: string[]): string =>
  `${names.length} migration${names.length === 1 ? '' : 's'}`;

/** A new database lacks them all, and a line of all names would hide what to do. */
const shownNames = (names: string[]): string =>
  names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;

/** In the working directory of a checkout, or next to the bundle in an image. */
export function defaultMigrationsDir(): string {
  const candidates = [
    join(process.cwd(), 'prisma/migrations'),
    join(__dirname, 'prisma/migrations'),
  ];
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
