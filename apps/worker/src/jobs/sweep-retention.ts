import { removeOldStatuses } from '@parley/channels';
import type { Db } from '@parley/db';
import type { JobContext } from '@parley/redis';
import type { Logger } from '@parley/service';
import { removeOldEvents } from '@parley/events';
import { noRunNeedsEventSql, removeOldRuns } from '@parley/triggers';
import { type Retention, sweepDeliveries } from '@parley/webhooks';

/** Days; 0 keeps everything. */
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

/** Removes what has been kept long enough: deliveries with their early statuses, trigger runs, events. */
export const createSweepRetention =
  ({ db, log, retention, history: { eventDays, runDays } }: RetentionDeps) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    const deliveries = await sweepDeliveries(db, retention);
    // Runs first: an event that only a run kept goes with it.
    const runs = runDays === 0 ? 0 : await removeOldRuns(db, runDays, signal);
    const events = eventDays === 0 ? 0 : await removeOldEvents(db, noRunNeedsEventSql, eventDays, signal);
    // Last, as it is one statement: were it too slow, the rest would be done.
    const statuses = await removeOldStatuses(db, retention.openDays);
    if (deliveries + events + runs > 0) log.info({ deliveries, statuses, events, runs }, 'what is old was removed');
  };
