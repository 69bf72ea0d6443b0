import { type Db, type ObserveStatement, createDb } from './client';
import { isDatabaseUnavailable } from './database-unavailable';
import { schemaProblem } from './schema-problem';
import { type StartLog, untilAvailable } from './until-available';

/** The variables of a service that uses PostgreSQL (`databaseVariables` of libs/service). */
interface DatabaseSettings {
  DATABASE_URL: string;
  DATABASE_POOL_SIZE: number;
  DATABASE_TIMEOUT_MS: number;
}

/**
 * Opens the database at the start of a service, and waits without a limit until it is available.
 * Throws an error with the command that fixes it when the schema does not match this code.
 */
export async function openDatabase(
  { DATABASE_URL, DATABASE_POOL_SIZE, DATABASE_TIMEOUT_MS }: DatabaseSettings,
  { name, log, observe }: { name: string; log: StartLog; observe?: ObserveStatement },
): Promise<Db> {
  const db = createDb({
    databaseUrl: DATABASE_URL,
    poolSize: DATABASE_POOL_SIZE,
    timeoutMs: DATABASE_TIMEOUT_MS,
    applicationName: name,
    observe,
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  try {
    const problem = await untilAvailable(
      { name: 'PostgreSQL', log, isUnavailable: isDatabaseUnavailable },
      () => schemaProblem(db),
    );
    if (problem !== null) throw new Error(problem);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
