import { setTimeout as sleep } from 'node:timers/promises';
import { type Queues, type JobName, deliveryJobs } from '@parley/redis';
import type { Logger } from '@parley/service';

export type JobSender = ReturnType<typeof createJobSender>;

/** Jobs sent within this time are enqueued together: enqueueing one costs as much as receiving its delivery. */
const batchWindowMs = 5;

export function createJobSender({ queues, log }: { queues: Queues; log: Logger }) {
  const waiting = new Map<JobName, { payload: { deliveryId: string }; requestId: string }[]>();
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [name, jobs] = next.value;
      waiting.delete(name);
      await queues
        .enqueueAll(name as 'sync-identity', jobs)
        .catch((error: unknown) =>
          log.warn({ err: error, job: name, count: jobs.length }, 'jobs were not enqueued and wait for the sweep'),
        );
    }
    running = null;
  }

  return {
    /** Enqueues the job of a stored delivery within milliseconds. The worker's sweep sends jobs that did not arrive. */
    send(path: string, deliveryRowId: string, requestId: string): void {
      const name = deliveryJobs[path];
      if (name === undefined) throw new Error(`There is no job for deliveries at ${path}`);
      const jobs = waiting.get(name) ?? [];
      jobs.push({ payload: { deliveryId: deliveryRowId }, requestId });
      waiting.set(name, jobs);
      running ??= sleep(batchWindowMs).then(drain);
    },
    /** Keeps the token of a payment callback in Redis; false when `max` others are. Rejects when Redis is unavailable. */
    holdToken: (token: string, max: number): Promise<boolean> => queues.heldTokens.add(token, max),
    /** Resolves when every job sent so far has been enqueued or has failed. */
    async settled(): Promise<void> {
      while (running !== null) await running;
    },
  };
}
