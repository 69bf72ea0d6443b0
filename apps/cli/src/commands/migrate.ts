import { Client } from 'pg';
import { migrate, schemaProblem } from '@parley/db';
import { explain } from '../database';
import { databaseUrl, migrationsDir } from '../environment';
import { Failure } from '../failure';
import { note, print, printJson } from '../terminal';

/** `parley migrate`: applies what is missing; with --check only says whether something is. */
export async function runMigrate({ check, json }: { check?: boolean; json?: boolean }): Promise<void> {
  const url = databaseUrl();
  try {
    if (check) return await checkSchema(url, json);
    const { applied } = await migrate({ databaseUrl: url, migrationsDir: migrationsDir(), log: note });
    if (json) return printJson({ applied });
    print(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    throw explain(error, url);
  }
}

async function checkSchema(url: string, json = false): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const problem = await schemaProblem(client, migrationsDir());
    if (problem !== null) throw new Failure(problem);
    if (json) printJson({ applied: [] });
    else print('The database is up to date.');
  } finally {
    await client.end();
  }
}
