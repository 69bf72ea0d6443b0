import { setTimeout as sleep } from 'node:timers/promises';
import { type Queues, type JobName, deliveryJobs } from '@parley/redis';
import type { Logger } from '@parley/service';

export interface JobSender {
  /** Sends the job of a stored delivery soon; whether it got there is the sweep's business. */
  send(path: string, deliveryRowId: string, requestId: string): void;
  /** Puts the token of a payment callback on the queue that could not be stored; rejects when Redis is away, too. */
  sendToken(token: string, requestId: string): Promise<void>;
  /** Resolves when what was sent so far is with Redis, or has failed. */
  settled(): Promise<void>;
}

/** Sending a job costs as much as taking its delivery in; those of deliveries that come within this time share the cost. */
const gatherMs = 5;

export function createJobSender({ queues, log }: { queues: Queues; log: Logger }): JobSender {
  const waiting = new Map<JobName, { payload: { deliveryId: string }; requestId: string }[]>();
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [name, jobs] = next.value;
      waiting.delete(name);
      await queues
        .enqueueAll(name as 'sync-identity', jobs)
        .catch((error: unknown) =>
          log.warn({ err: error, job: name, count: jobs.length }, 'jobs wait for the sweep, as Redis is away'),
        );
    }
    running = null;
  }

  return {
    send(path, deliveryRowId, requestId) {
      const name = deliveryJobs[path];
      if (name === undefined) throw new Error(`No job for deliveries at ${path}`);
      const jobs = waiting.get(name) ?? [];
      jobs.push({ payload: { deliveryId: deliveryRowId }, requestId });
      waiting.set(name, jobs);
      running ??= sleep(gatherMs).then(drain);
    },
    sendToken: (token, requestId) => queues.enqueue('confirm-payment', { token }, { requestId }),
    async settled() {
      while (running !== null) await running;
    },
  };
}
