import { statSync } from 'node:fs';
import { TablesInUse, filledTables, migrate, migrationNames, readDatabaseUrl } from '@parley/db';
import { pathOf } from '../command-io';
import { type CheckedBackup, checkBackup, restoreBackup } from '../backup/restore-backup';
import { startProgress } from '../data/progress';
import { explain, withDatabase, withoutPassword } from '../database';
import { databaseUrl, migrationsDir } from '../environment';
import { Failure } from '../failure';
import { requireConsent } from '../require-consent';
import { describeHeld, holdOpenWork } from '../held/held-kinds';
import { formatCount, formatDuration, formatTime, note, printJson } from '../terminal';
import { version } from '../version';

export interface RestoreOptions {
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

/**
 * `parley restore <file>`: replaces the rows of the database by those of a backup, in one
 * transaction. A database with rows is replaced only with --replace, and after a question.
 */
export async function runRestore(
  file: string,
  { replace, yes, json }: RestoreOptions,
): Promise<void> {
  const url = databaseUrl();
  const startedAt = Date.now();
  try {
    const backup = await check(file, json);
    requireSameSchema(file, backup);
    await prepare(url, { replace, yes, file });
    const progress = await startProgress('Rows restored', backup.rows, json);
    let held: Record<string, number> = {};
    await restoreBackup(file, backup, {
      databaseUrl: url,
      isWanted: (filled) => refuseUnlessReplaced(url, filled, replace),
      onRows: progress.advance,
      finish: async (tx) => {
        held = await holdOpenWork(tx);
      },
    });
    const took = formatDuration(Date.now() - startedAt);
    if (json)
      return printJson({ file, createdAt: backup.manifest.createdAt, rows: backup.rows, held });
    progress.stop(`Restored ${formatCount(backup.rows)} rows from ${file} (${took}).`);
    if (Object.keys(held).length > 0)
      note(
        `Held: ${describeHeld(held)}. They may have been done since the backup: parley held list shows them.`,
      );
    note('Restart the services: they may still use what they read before.');
    note('SECRETS_KEY must be the key of the backup. parley doctor checks it.');
  } catch (error) {
    if (error instanceof TablesInUse)
      throw new Failure(
        'Other processes are using the database. Stop the services, and restore again. Nothing was changed',
      );
    throw explain(error, url);
  }
}

async function check(file: string, json?: boolean): Promise<CheckedBackup> {
  const size = statSync(pathOf(file), { throwIfNoEntry: false })?.size;
  const progress = await startProgress('Bytes checked', size ?? 0, json);
  const backup = await checkBackup(file, progress.advance);
  const { createdAt, parley, postgres } = backup.manifest;
  const origin = `by Parley ${parley} from PostgreSQL ${postgres}`;
  progress.stop(
    `${file} was made on ${formatTime(new Date(createdAt))} ${origin}: ${formatCount(backup.rows)} rows.`,
  );
  return backup;
}

/** The rows of a backup fit the tables of the same migrations only. */
function requireSameSchema(
  file: string,
  { manifest: { migrations, parley } }: CheckedBackup,
): void {
  const known = migrationNames(migrationsDir());
  const missing = known.filter((name) => !migrations.includes(name));
  const unknown = migrations.filter((name) => !known.includes(name));
  const list = (names: string[]): string =>
    names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
  if (unknown.length > 0)
    throw new Failure(
      `${file} is of a newer schema than that of this version (${version}), with ${list(unknown)}. Restore it with the version that added them`,
    );
  if (missing.length > 0)
    throw new Failure(
      `${file} was made by an earlier version (${parley}; this is ${version}), without ${list(missing)}. ` +
        'Restore it with the version that made it, then upgrade: docs/operations.md describes how',
    );
}

/** Creates the tables of an empty database, and asks before those of another one are emptied. */
async function prepare(
  url: string,
  options: { replace?: boolean; yes?: boolean; file: string },
): Promise<void> {
  const filled = await filledTables(url);
  refuseUnlessReplaced(url, filled, options.replace);
  if (filled.length === 0 && !readDatabaseUrl(url).isPooled)
    await migrate({ databaseUrl: url, migrationsDir: migrationsDir(), log: note });
  await withDatabase(async () => {}); // checks the schema
  if (filled.length > 0 && !options.yes)
    await requireConsent(
      `Delete everything in ${withoutPassword(url)} and restore ${options.file}?`,
      {
        instead: 'Use --replace --yes to delete what is there',
        refused: 'Nothing was changed',
      },
    );
}

function refuseUnlessReplaced(url: string, filled: string[], replace = false): void {
  if (filled.length === 0 || replace) return;
  const tables = `${filled.slice(0, 5).join(', ')}${filled.length > 5 ? ', …' : ''}`;
  throw new Failure(
    `The database ${withoutPassword(url)} is not empty: ${tables} ${filled.length === 1 ? 'has' : 'have'} rows. ` +
      'Restore into an empty database, or use --replace to delete what it contains',
  );
}
