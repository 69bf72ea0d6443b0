import { rollUpExecutions } from '@parley/agents';
import type { Db } from '@parley/db';
import type { JobContext } from '@parley/redis';

/** Adds the hours that have ended to the statistics of executions. */
export const createRollUpExecutions =
  ({ db }: { db: Db }) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    await rollUpExecutions(db, signal);
  };
