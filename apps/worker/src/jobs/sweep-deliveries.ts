import type { Db } from '@parley/db';
import { type JobContext, type JobName, type Queues, deliveryJobs } from '@parley/redis';
import { findOverdue } from '@parley/webhooks';

/** Age at which a delivery is overdue. Before that, the job that webhook-ingest has enqueued should process it. */
const overdueAfterMs = 3_000;
const limit = 2_000;

/** Enqueues jobs for overdue deliveries. One that still has a job gets no second one: the job's id is the delivery's id. */
export const createSweepDeliveries =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    const overdue = await findOverdue(db, { olderThanMs: overdueAfterMs, limit });
    for (const [path, deliveries] of Map.groupBy(overdue, (delivery) => delivery.path)) {
      const name: JobName | undefined = deliveryJobs[path];
      if (name === undefined) continue;
      const jobs = deliveries.map(({ id }) => ({ payload: { deliveryId: id }, requestId }));
      await queues.enqueueAll(name as 'sync-identity', jobs);
    }
  };
