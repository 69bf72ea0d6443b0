import type { Db } from '@parley/db';
import type { JobContext } from '@parley/queues';
import type { Logger } from '@parley/service';
import { type Retention, sweepDeliveries } from '@parley/webhooks';
import { type HistoryRetention, removeHistory } from '../remove-history';

interface RetentionDeps {
  db: Db;
  retention: Retention;
  history: HistoryRetention;
  log: Logger;
}

/** Removes what has been kept long enough: deliveries with their early statuses, trigger runs, events. */
export const createSweepRetention =
  ({ db, log, retention, history }: RetentionDeps) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    const deliveries = await sweepDeliveries(db.pool, retention);
    const { events, runs } = await removeHistory(db.pool, history, signal);
    // Last, as it is one statement: were it too slow, the rest would be done.
    const { rowCount: statuses } = await db.pool.query(
      `delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)`,
      [retention.openDays],
    );
    if (deliveries + events + runs > 0) log.info({ deliveries, statuses, events, runs }, 'what is old was removed');
  };
