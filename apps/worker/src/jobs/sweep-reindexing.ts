import type { Db } from '@parley/db';
import { staleTypes } from '@parley/entities';
import type { JobContext, Queues } from '@parley/redis';

/**
 * Enqueues a job for every entity type that has to be reindexed. A type that already has a job
 * gets no second one.
 */
export const createSweepReindexing =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const { typeId } of await staleTypes(db)) {
      await queues.enqueue('reindex-entity-type', { typeId }, { requestId });
    }
  };
