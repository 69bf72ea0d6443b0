import { statSync } from 'node:fs';
import { readSnapshot } from '@parley/db';
import { pathOf } from '../command-io';
import { writeBackup } from '../backup/write-backup';
import { type Progress, startProgress } from '../data/progress';
import { explain, withDatabase } from '../database';
import { databaseUrl } from '../environment';
import { formatBytes, formatCount, formatDuration, note, printJson } from '../terminal';

/**
 * `parley backup <file>`: writes all rows of the database, as they are at one moment, to a file.
 */
export async function runBackup(file: string, { json }: { json?: boolean }): Promise<void> {
  const url = databaseUrl();
  const startedAt = Date.now();
  try {
    // A restore needs the version that made the backup: this one must be that of the database.
    await withDatabase(async () => {});
    let progress: Progress | undefined;
    const rows = await readSnapshot(url, async (snapshot) => {
      progress = await startProgress('Rows saved', snapshot.estimatedRows, json);
      return writeBackup(file, snapshot, progress.advance);
    });
    const count = Object.values(rows).reduce((sum, one) => sum + one, 0);
    const { size } = statSync(pathOf(file));
    if (json) return printJson({ file, bytes: size, rows: count });
    const took = formatDuration(Date.now() - startedAt);
    progress!.stop(`Saved ${formatCount(count)} rows to ${file} (${formatBytes(size)}, ${took}).`);
    note('It contains conversations and data of customers. Only this account can read it.');
    note(
      'SECRETS_KEY is not in it. Store it elsewhere: without it, the secrets of integrations cannot be decrypted.',
    );
  } catch (error) {
    throw explain(error, url);
  }
}
