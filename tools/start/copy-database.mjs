import { execFile } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Problem, print, step } from './output.mjs';
import { root } from './paths.mjs';
import { copyDir, databaseDir, megabytes, sizeOf } from './state-parts.mjs';

export const migrationsDir = join(root, 'prisma', 'migrations');

/**
 * Whether the database has migrations of this version and lacks others. One that has none of them
 * is not migrated: it is new, or was made before version 0.1.0.
 */
export async function isOlder(databaseUrl, folder = migrationsDir) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      `select to_regclass('_prisma_migrations') as found`,
    );
    if (tables[0].found === null) return false;
    const { rows } = await client.query(
      'select migration_name as name from _prisma_migrations where finished_at is not null',
    );
    const applied = new Set(rows.map(({ name }) => name));
    const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    );
    return names.some((name) => applied.has(name)) && names.some((name) => !applied.has(name));
  } finally {
    await client.end();
  }
}

/**
 * Copies the folder of a database that is stopped. The copy replaces the one before
 * when it is complete.
 */
export async function copyDatabase(stateDir) {
  const source = databaseDir(stateDir);
  const copy = copyDir(stateDir);
  const bytes = sizeOf(source);
  const { bavail, bsize } = statfsSync(dirname(source));
  if (bavail * bsize < bytes * 1.1)
    throw new Problem(
      `The database (${megabytes(bytes)}) is of an earlier version, and there is not enough space in ${dirname(source)} to copy it ` +
        'before it is migrated. Free some space, or start with --no-copy.',
    );
  await step('Copying the database before it is migrated', async () => {
    const partial = `${copy}.partial`;
    rmSync(partial, { recursive: true, force: true });
    // Keeps the owner, which PostgreSQL checks.
    await promisify(execFile)('cp', ['-a', source, partial]);
    rmSync(copy, { recursive: true, force: true });
    renameSync(partial, copy);
    return megabytes(bytes);
  });
  print(
    `  The copy is kept in ${copy} until the next migration. To go back, check out the earlier version and ` +
      `replace ${source} with it.`,
  );
}
