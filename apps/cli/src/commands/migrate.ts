import { setTimeout as sleep } from 'node:timers/promises';
import { createDb, isDatabaseUnavailable, migrate, readSchema } from '@parley/db';
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

async function apply(url: string, json?: boolean): Promise<void> {
  report(await migrate({ databaseUrl: url, migrationsDir: migrationsDir(), log: note }), json);
}

async function checkSchema(url: string, json?: boolean): Promise<void> {
  const db = createDb({ databaseUrl: url, poolSize: 1, applicationName: 'parley-cli' });
  try {
    const { problem, newer } = await readSchema(db, migrationsDir());
    if (problem !== null) throw new Failure(problem);
    report({ applied: [], newer }, json);
  } finally {
    await db.close();
  }
}

function report({ applied, newer }: { applied: string[]; newer: string[] }, json?: boolean): void {
  if (json) return printJson({ applied, newer });
  if (applied.length > 0)
    print(`Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}.`);
  if (newer.length > 0)
    print(
      `The database has ${newer.join(', ')} of a newer version, which this version works with.`,
    );
  else if (applied.length === 0) print('The database is up to date.');
}
