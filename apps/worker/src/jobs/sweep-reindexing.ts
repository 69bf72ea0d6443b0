import type { Db } from '@parley/db';
import { staleTypes } from '@parley/entities';
import type { JobContext, Queues } from '@parley/redis';

/** Sends a job for every type that waits for reindexing; one that has a job already keeps it. */
export const createSweepReindexing =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const { typeId } of await staleTypes(db)) {
      await queues.enqueue('reindex-entity-type', { typeId }, { requestId });
    }
  };
