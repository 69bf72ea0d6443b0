import type { Db } from '@parley/db';
import { reindexType } from '@parley/entities';
import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';

/** Minimum time between two log lines about the progress of one job. */
const logEveryMs = 5_000;

/**
 * Rebuilds the search text of an entity type from its current `searchFields`. An interrupted run
 * continues where it stopped.
 */
export const createReindexEntityType =
  ({ db, log }: { db: Db; log: Logger }) =>
  async ({ typeId }: JobPayload<'reindex-entity-type'>, { signal }: JobContext): Promise<void> => {
    let loggedAtMs = -Infinity;
    let progress = { done: 0, share: 0 };
    const finished = await reindexType(db, typeId, {
      signal,
      onProgress(done, share) {
        progress = { done, share: Math.round(share * 100) / 100 };
        if (performance.now() - loggedAtMs < logEveryMs) return;
        loggedAtMs = performance.now();
        log.info({ typeId, ...progress }, 'reindexing');
      },
    });
    if (!finished) throw signal.reason;
    log.info({ typeId, ...progress, share: 1 }, 'reindexed');
  };
