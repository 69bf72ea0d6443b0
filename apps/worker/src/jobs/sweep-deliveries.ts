import type { Db } from '@parley/db';
import { type JobContext, type Queues, deliveryJobs } from '@parley/redis';
import { findOverdue } from '@parley/webhooks';

/**
 * Age at which a delivery is overdue. Before that, the job that webhook-ingest has enqueued
 * should process it.
 */
const overdueAfterMs = 3_000;
const limit = 2_000;

/**
 * Enqueues a job for each overdue delivery, whose id is the job's id: a sweep adds none to that of
 * an earlier sweep.
 */
export const createSweepDeliveries =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    const overdue = await findOverdue(db, { olderThanMs: overdueAfterMs, limit });
    for (const [path, deliveries] of Map.groupBy(overdue, (delivery) => delivery.path)) {
      const name = deliveryJobs[path];
      if (name === undefined) continue;
      await queues.enqueueAll(
        name,
        deliveries.map(({ id }) => ({ payload: { deliveries: [{ id, requestId }] } })),
      );
    }
  };
