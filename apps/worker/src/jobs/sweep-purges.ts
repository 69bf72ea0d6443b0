import type { Db } from '@parley/db';
import { purgesToRun } from '@parley/identity';
import type { JobContext, Queues } from '@parley/redis';

/** Sends the jobs of purges that are due, and for a while after their end once more. */
export const createSweepPurges =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const payload of await purgesToRun(db)) await queues.enqueue('purge-organization', payload, { requestId });
  };
