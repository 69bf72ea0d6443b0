import { type Db, createDb, isDatabaseUnavailable, schemaProblem } from '@parley/db';
import { databaseUrl, migrationsDir } from './environment';
import { Failure } from './failure';

/**
 * Runs `work` with a connection to DATABASE_URL, then closes it. Fails when the schema is not the
 * one of this version.
 */
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

/**
 * Turns connection and authentication errors, which the user can fix, into one-line failures
 * without the password.
 */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof Failure) return error;
  const { code, message } = error as { code?: string; message?: string };
  const reason = message || code || 'no answer';
  if (isDatabaseUnavailable(error))
    return new Failure(`Cannot connect to PostgreSQL at ${withoutPassword(url)}: ${reason}`);
  // Invalid password, unknown role, unknown database.
  if (code === '28P01' || code === '28000' || code === '3D000')
    return new Failure(`PostgreSQL rejects the connection to ${withoutPassword(url)}: ${reason}`);
  return error;
}

/** The address as it may be shown. */
export function withoutPassword(url: string): string {
  return URL.canParse(url) ? Object.assign(new URL(url), { password: '' }).href : 'DATABASE_URL';
}
