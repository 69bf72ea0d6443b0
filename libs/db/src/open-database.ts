import { type Db, createDb, isDatabaseUnavailable } from './client';
import { schemaProblem } from './migrate';
import { type StartLog, untilAvailable } from './until-available';

/** The variables of a service that has a database (libs/service databaseVariables). */
interface DatabaseSettings {
  DATABASE_URL: string;
  DATABASE_POOL_SIZE: number;
}

/**
 * The database of a service at its start: waits until it answers, however long that takes. Throws when its schema is
 * not the one that this code knows, with the command that mends it.
 */
export async function openDatabase(
  { DATABASE_URL, DATABASE_POOL_SIZE }: DatabaseSettings,
  { name, log }: { name: string; log: StartLog },
): Promise<Db> {
  const db = createDb({
    databaseUrl: DATABASE_URL,
    poolSize: DATABASE_POOL_SIZE,
    applicationName: name,
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  try {
    const problem = await untilAvailable({ name: 'PostgreSQL', log, isUnavailable: isDatabaseUnavailable }, () =>
      schemaProblem(db),
    );
    if (problem !== null) throw new Error(problem);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
