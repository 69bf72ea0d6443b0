import type { Db } from '@parley/db';
import type { JobContext } from '@parley/queues';
import type { Logger } from '@parley/service';
import { type Retention, sweepDeliveries } from '@parley/webhooks';
import { type HistoryRetention, removeHistory } from '../remove-history';

interface RetentionDeps {
  db: Db;
  retention?: Retention;
  history?: HistoryRetention;
  log: Logger;
}

/** Removes what has been kept long enough: deliveries with their early statuses, runs of automations, events. */
export const createSweepRetention =
  ({ db, log, ...days }: RetentionDeps) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    const { retention = { doneDays: 30, openDays: 180 }, history = { eventDays: 365, runDays: 90 } } = days;
    const deliveries = await sweepDeliveries(db.pool, retention);
    const { rowCount: statuses } = await db.pool.query(
      `delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)`,
      [retention.openDays],
    );
    const { events, runs } = await removeHistory(db.pool, history, signal);
    if (deliveries + events + runs > 0) log.info({ deliveries, statuses, events, runs }, 'what is old was removed');
  };
