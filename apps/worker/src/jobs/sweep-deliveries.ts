import type { Db } from '@parley/db';
import { type JobContext, type JobName, type Queues, deliveryJobs } from '@parley/redis';
import { findOverdue } from '@parley/webhooks';

/** Within it the job that the door has sent does the work. */
const patienceMs = 3_000;
const limit = 2_000;

/** Sends the jobs of deliveries that wait without one; those that have one keep it, as its id is the delivery's. */
export const createSweepDeliveries =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    const overdue = await findOverdue(db, { olderThanMs: patienceMs, limit });
    for (const [path, deliveries] of Map.groupBy(overdue, (delivery) => delivery.path)) {
      const name: JobName | undefined = deliveryJobs[path];
      if (name === undefined) continue;
      const jobs = deliveries.map(({ id }) => ({ payload: { deliveryId: id }, requestId }));
      await queues.enqueueAll(name as 'sync-identity', jobs);
    }
  };
