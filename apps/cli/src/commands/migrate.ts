import { Client } from 'pg';
import { migrate, schemaProblem } from '@parley/db';
import { explain } from '../database';
import { databaseUrl, migrationsDir } from '../environment';
import { Failure } from '../failure';
import { note, print } from '../terminal';

/** `parley migrate`: applies what is missing; with --check only says whether something is. */
export async function runMigrate({ check }: { check?: boolean }): Promise<void> {
  const url = databaseUrl();
  try {
    if (check) return await checkSchema(url);
    const { applied } = await migrate({ databaseUrl: url, migrationsDir: migrationsDir(), log: note });
    print(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    throw explain(error, url);
  }
}

async function checkSchema(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const problem = await schemaProblem(client, migrationsDir());
    if (problem !== null) throw new Failure(problem);
    print('The database is up to date.');
  } finally {
    await client.end();
  }
}
