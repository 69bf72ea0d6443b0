import { setTimeout as sleep } from 'node:timers/promises';
import { createDb, isDatabaseUnavailable, migrate, schemaProblem } from '@parley/db';
import { explain } from '../database';
import { databaseUrl, migrationsDir } from '../environment';
import { Failure } from '../failure';
import { note, print, printJson } from '../terminal';

interface MigrateOptions {
  check?: boolean;
  /** Seconds. */
  wait?: number;
  json?: boolean;
}

const retryMs = 1_000;

/** `parley migrate`: applies missing migrations. With --check, only fails when one is missing. */
export async function runMigrate({ check, wait = 0, json }: MigrateOptions): Promise<void> {
  const url = databaseUrl();
  const deadlineMs = Date.now() + wait * 1_000;
  for (;;) {
    try {
      return check ? await checkSchema(url, json) : await apply(url, json);
    } catch (error) {
      const isTemporary = isDatabaseUnavailable(error) || (check && error instanceof Failure);
      if (!isTemporary || Date.now() + retryMs > deadlineMs) throw explain(error, url);
      note(`Waiting: ${error instanceof Error && error.message ? error.message : 'no response'}`);
      await sleep(retryMs);
    }
  }
}

async function apply(url: string, json = false): Promise<void> {
  const { applied } = await migrate({ databaseUrl: url, migrationsDir: migrationsDir(), log: note });
  if (json) return printJson({ applied });
  if (applied.length === 0) print('The database is up to date.');
  else print(`Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}.`);
}

async function checkSchema(url: string, json = false): Promise<void> {
  const db = createDb({ databaseUrl: url, poolSize: 1, applicationName: 'parley-cli' });
  try {
    const problem = await schemaProblem(db, migrationsDir());
    if (problem !== null) throw new Failure(problem);
    if (json) printJson({ applied: [] });
    else print('The database is up to date.');
  } finally {
    await db.close();
  }
}
