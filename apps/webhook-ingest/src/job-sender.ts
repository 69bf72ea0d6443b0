import { setTimeout as sleep } from 'node:timers/promises';
import { type JobPayload, type Queues, deliveryJobs } from '@parley/redis';
import type { Logger } from '@parley/service';

export type JobSender = ReturnType<typeof createJobSender>;

/**
 * Deliveries received within this time share a job: enqueueing and running one costs as much as
 * receiving its delivery.
 */
const batchWindowMs = 20;
/**
 * Maximum number of deliveries of a job, which are retried together when their worker is killed.
 */
const largestJob = 50;

type DeliveryJob = (typeof deliveryJobs)[string];

export function createJobSender({ queues, log }: { queues: Queues; log: Logger }) {
  const waiting = new Map<DeliveryJob, JobPayload<DeliveryJob>['deliveries']>();
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    const ready = [...waiting];
    waiting.clear();
    for (const [name, deliveries] of ready) {
      const jobs = [];
      for (let at = 0; at < deliveries.length; at += largestJob)
        jobs.push({ payload: { deliveries: deliveries.slice(at, at + largestJob) } });
      await queues
        .enqueueAll(name, jobs)
        .catch((error: unknown) =>
          log.warn(
            { err: error, job: name, count: deliveries.length },
            'deliveries have no job and wait for the sweep',
          ),
        );
    }
    running = waiting.size > 0 ? sleep(batchWindowMs).then(drain) : null;
  }

  return {
    /**
     * Enqueues a job for a stored delivery within milliseconds. The worker's sweep sends jobs
     * that did not arrive.
     */
    send(path: string, deliveryRowId: string, requestId: string): void {
      const name = deliveryJobs[path];
      if (name === undefined) throw new Error(`There is no job for deliveries at ${path}`);
      const deliveries = waiting.get(name) ?? [];
      deliveries.push({ id: deliveryRowId, requestId });
      waiting.set(name, deliveries);
      running ??= sleep(batchWindowMs).then(drain);
    },
    /**
     * Keeps the token of a payment callback in Redis; false when `max` others are. Rejects when
     * Redis is unavailable.
     */
    holdToken: (token: string, max: number): Promise<boolean> => queues.heldTokens.add(token, max),
    /** Resolves when every job sent so far has been enqueued or has failed. */
    async settled(): Promise<void> {
      while (running !== null) await running;
    },
  };
}
