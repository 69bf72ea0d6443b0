import type { Db } from '@parley/db';
import { purgesToRun } from '@parley/identity';
import type { JobContext, Queues } from '@parley/redis';

/**
 * Enqueues jobs for purges that are due. A finished purge is repeated for a while, to delete rows
 * that were written late.
 */
export const createSweepPurges =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const payload of await purgesToRun(db))
      await queues.enqueue('purge-organization', payload, { requestId });
  };
