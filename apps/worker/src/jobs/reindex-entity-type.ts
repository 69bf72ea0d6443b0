import type { Db } from '@parley/db';
import { reindexType } from '@parley/entities';
import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';

/** Between two lines of the log about one job. */
const tellEveryMs = 5_000;

/** Brings a type's search text to its present `searchFields`; a run that was cut short is taken up where it stopped. */
export const createReindexEntityType =
  ({ db, log }: { db: Db; log: Logger }) =>
  async ({ typeId }: JobPayload<'reindex-entity-type'>, { signal }: JobContext): Promise<void> => {
    let toldAtMs = -Infinity;
    let progress = { done: 0, share: 0 };
    const finished = await reindexType(db, typeId, {
      signal,
      onProgress(done, share) {
        progress = { done, share: Math.round(share * 100) / 100 };
        if (performance.now() - toldAtMs < tellEveryMs) return;
        toldAtMs = performance.now();
        log.info({ typeId, ...progress }, 'reindexing');
      },
    });
    if (!finished) throw signal.reason;
    log.info({ typeId, ...progress, share: 1 }, 'reindexed');
  };
