import type { Db } from '@parley/db';
import type { Logger } from '@parley/service';
import { type Retention, sweepDeliveries } from '@parley/webhooks';

/** Removes what deliveries have left behind: themselves, and statuses, which nothing can need any more by then. */
export const createSweepRetention =
  ({ db, retention = { doneDays: 30, openDays: 180 }, log }: { db: Db; retention?: Retention; log: Logger }) =>
  async (): Promise<void> => {
    const deliveries = await sweepDeliveries(db.pool, retention);
    const { rowCount: statuses } = await db.pool.query(
      `delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)`,
      [retention.openDays],
    );
    if (deliveries > 0) log.info({ deliveries, statuses }, 'old deliveries were removed');
  };
