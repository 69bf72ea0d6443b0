import { removeOldStatuses } from '@parley/channels';
import type { Db } from '@parley/db';
import type { JobContext } from '@parley/redis';
import type { Logger } from '@parley/service';
import { removeOldEvents } from '@parley/events';
import { noRunNeedsEventSql, removeOldRuns } from '@parley/triggers';
import { type Retention, sweepDeliveries } from '@parley/webhooks';

/** Retention in days; 0 keeps all rows. */
export interface HistoryRetention {
  eventDays: number;
  runDays: number;
}

interface RetentionDeps {
  db: Db;
  retention: Retention;
  history: HistoryRetention;
  log: Logger;
}

/**
 * Deletes deliveries, trigger runs, events and early message statuses whose retention has ended.
 */
export const createSweepRetention =
  ({ db, log, retention, history: { eventDays, runDays } }: RetentionDeps) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    const deliveries = await sweepDeliveries(db, retention);
    // Runs before events, as a run keeps the events that it needs.
    const runs = runDays === 0 ? 0 : await removeOldRuns(db, runDays, signal);
    const events =
      eventDays === 0 ? 0 : await removeOldEvents(db, noRunNeedsEventSql, eventDays, signal);
    const statuses = await removeOldStatuses(db, retention.openDays);
    if (deliveries + events + runs > 0)
      log.info({ deliveries, statuses, events, runs }, 'expired rows were deleted');
  };
