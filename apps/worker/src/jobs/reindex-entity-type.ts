import type { Db } from '@parley/db';
import { reindexType } from '@parley/entities';
import type { JobContext, JobPayload } from '@parley/queues';

/** Brings a type's search text to its present `searchFields`; a run that was cut short is taken up where it stopped. */
export const createReindexEntityType =
  ({ db }: { db: Db }) =>
  async ({ typeId }: JobPayload<'reindex-entity-type'>, { signal }: JobContext): Promise<void> => {
    const finished = await reindexType(db.pool, typeId, { signal });
    if (!finished) throw signal.reason;
  };
