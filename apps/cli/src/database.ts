import { type Db, createDb, isDatabaseUnavailable, schemaProblem } from '@parley/db';
import { databaseUrl, migrationsDir } from './environment';
import { Failure } from './failure';

/** Runs `work` on the database of the environment and closes it; refuses a schema that this version does not know. */
export async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const url = databaseUrl();
  const db = createDb({ databaseUrl: url, poolSize: 4, applicationName: 'parley-cli' });
  try {
    const problem = await schemaProblem(db, migrationsDir());
    if (problem !== null) throw new Failure(problem);
    return await work(db);
  } catch (error) {
    throw explain(error, url);
  } finally {
    await db.close();
  }
}

/** A database that does not answer or refuses us is the user's to mend, so it is said in one line, without the password. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof Failure) return error;
  const { code, message } = error as { code?: string; message?: string };
  const reason = message || code || 'no answer';
  if (isDatabaseUnavailable(error))
    return new Failure(`PostgreSQL does not answer at ${withoutPassword(url)}: ${reason}`);
  // Invalid password, unknown role, unknown database.
  if (code === '28P01' || code === '28000' || code === '3D000') return new Failure(`PostgreSQL refuses: ${reason}`);
  return error;
}

function withoutPassword(url: string): string {
  return URL.canParse(url) ? Object.assign(new URL(url), { password: '' }).href : 'DATABASE_URL';
}
