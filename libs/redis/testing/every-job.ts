import type { JobHandlers } from '../src/consume';
import { type JobName, type JobPayload, jobNames } from '../src/job-catalog';
import type { Queues } from '../src/queues';

const payload = {
  tenant: 1,
  typeId: 't',
  runId: 'r',
  deliveries: [{ id: 'd' }],
  organizationId: 'o',
  connectionId: 'c',
  contact: 'c',
  messageId: 'm',
  emailId: 'e',
  executionId: '1',
};

/** Sends a job to every queue. */
export async function enqueueEveryJob(
  queues: Queues,
  options: { delayMs?: number } = {},
): Promise<void> {
  for (const name of jobNames)
    await queues.enqueue(name, payload as unknown as JobPayload<typeof name>, options);
}

/** Handlers of all jobs, which call `handle` with the name of the job. */
export const handlersOf = (handle: (name: JobName) => void): JobHandlers =>
  Object.fromEntries(
    jobNames.map((name) => [name, async () => handle(name)]),
  ) as unknown as JobHandlers;
