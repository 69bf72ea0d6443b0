import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The definition of a kind of job, which both its senders and its worker read. */
export interface JobDefinition<P extends z.ZodType = z.ZodType> {
  /** Ids, not rows: a job reads the current state of the row that it names. */
  payload: P;
  /** Maximum number of attempts. The wait between them grows exponentially from `backoffMs`. */
  attempts: number;
  backoffMs: number;
  /** Maximum number of jobs of this kind that one worker process runs at the same time. */
  concurrency: number;
  /**
   * A job is not added while another one with its id is waiting or running. Null or undefined:
   * the job has no id.
   */
  id: ((payload: z.output<P>) => string | undefined) | null;
  /** Interval of a repeating job, which runs once for all workers and has an empty payload. */
  everyMs?: number;
}

const job = <P extends z.ZodType>(definition: JobDefinition<P>) => definition;
const nothing = z.object({});
const minuteMs = 60_000;
/**
 * For job ids: values of providers can contain a colon, which BullMQ does not allow, or be long.
 */
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 40);

/** A job of one row, whose id is the field `field` of the payload. */
const rowJob = <F extends string>(
  field: F,
  {
    attempts = 1,
    backoffMs = 1_000,
    concurrency,
  }: { attempts?: number; backoffMs?: number; concurrency: number },
) => {
  const payload = z.object({ [field]: z.string() } as Record<F, z.ZodString>);
  return job({
    payload,
    attempts,
    backoffMs,
    concurrency,
    id: (row) => (row as Record<F, string>)[field],
  });
};
/** Whose share of the worker the job needs. */
const tenant = z.number().int();
const deliveries = z.object({
  deliveries: z.array(z.object({ id: z.string(), requestId: z.string().optional() })),
});
/**
 * Processes stored webhook deliveries, those that arrived within a few milliseconds
 * (docs/adr/0077). `sweep-deliveries` sends a job for each delivery until its row is
 * marked as processed.
 */
const deliveryJob = (concurrency: number) =>
  job({
    payload: deliveries,
    attempts: 8,
    backoffMs: 1_000,
    concurrency,
    id: ({ deliveries: [first, second] }) => (second === undefined ? first?.id : undefined),
  });
/** Finds rows without a job, such as those whose job Redis has lost. */
const sweep = (everyMs: number) =>
  job({ payload: nothing, attempts: 1, backoffMs: 1_000, concurrency: 1, id: null, everyMs });

/** All jobs. A job without a handler in the worker does not compile. */
const jobCatalog = {
  /**
   * Rewrites the search text of a type's entities after a change of its `searchFields`. The row
   * records the progress.
   */
  'reindex-entity-type': rowJob('typeId', { attempts: 8, concurrency: 2 }),
  /** Sends the jobs of entity types that wait for reindexing. */
  'sweep-reindexing': sweep(minuteMs),
  /** Deletes the answers of idempotency keys that are older than 24 hours. */
  'sweep-idempotency': sweep(15 * minuteMs),
  /**
   * Reports that trigger runs of a tenant are due, when the process that planned them has no free
   * slot for it. The rows record the progress and count the attempts. How many runs a process
   * executes is decided by the share of the tenant (docs/adr/0038).
   */
  'run-triggers': job({
    payload: z.object({ tenant: z.number().int() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 4,
    id: ({ tenant }) => `tenant-${tenant}`,
  }),
  /** Applies a delivery of the identity provider to users, organizations and memberships. */
  'sync-identity': deliveryJob(10),
  /**
   * Sends the jobs of deliveries that were stored while Redis was unavailable, or
   * whose job was lost.
   */
  'sweep-deliveries': sweep(5_000),
  /** Deletes all data of an organization in batches. The row of the purge records the progress. */
  'purge-organization': rowJob('organizationId', { attempts: 5, backoffMs: 5_000, concurrency: 1 }),
  /** Sends the jobs of purges that are due. */
  'sweep-purges': sweep(minuteMs),
  /** Applies a delivery about a phone number that was connected or disconnected at Kapso. */
  'update-channel': deliveryJob(5),
  /** Stores received messages, and the statuses of sent ones. Does not answer them. */
  'receive-messages': deliveryJob(20),
  /**
   * Reports that messages of a conversation wait for an answer; attempts are counted on the
   * messages. A message that arrives just as the job ends gets no job until `sweep-channels`
   * sends one. The id prevents each sweep from adding another job while workers are behind. How
   * many a process answers is decided by the share of the tenant (docs/adr/0038); `concurrency`
   * only has to exceed it.
   */
  'answer-conversation': job({
    payload: z.object({ tenant, connectionId: z.string(), contact: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 64,
    id: ({ connectionId, contact }) => `${connectionId}-${digestOf(contact)}`,
  }),
  /** Makes one attempt to send a message of the outbox. Attempts are counted on its row. */
  'send-message': rowJob('messageId', { concurrency: 10 }),
  /** Makes one attempt to send an e-mail of the outbox. Attempts are counted on its row. */
  'send-email': rowJob('emailId', { concurrency: 5 }),
  /**
   * Fetches the file of a received message. Attempts are counted on its row. Few at a time, as each
   * may hold 25 MiB.
   */
  'fetch-media': job({
    payload: z.object({ tenant, messageId: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 4,
    id: ({ messageId }) => messageId,
  }),
  /**
   * Reports that an execution was started in the background. The row records the progress and
   * counts the attempts. `concurrency`: see `answer-conversation`.
   */
  'run-execution': job({
    payload: z.object({ tenant, executionId: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 64,
    // BullMQ refuses ids that are integers.
    id: ({ executionId }) => `execution-${executionId}`,
  }),
  /** Sends the jobs of executions that are overdue. Every second, as `sweep-channels`. */
  'sweep-executions': sweep(1_000),
  /**
   * Sends the jobs of messages, files and e-mails that are overdue. Every second, because the work
   * of a killed worker must continue within 5 s and its lease takes 4 s to expire.
   */
  'sweep-channels': sweep(1_000),
  /**
   * Gives threads back to the agent when a takeover ends, and sends e-mails about
   * threads that wait.
   */
  'sweep-threads': sweep(5_000),
  /**
   * Registers webhooks at Kapso again whose secret is not derived from the current
   * MESSAGING_WEBHOOK_SECRET.
   */
  'sweep-registrations': sweep(minuteMs),
  /**
   * Deletes deliveries, statuses without a message, events and trigger runs after their retention
   * time.
   */
  'sweep-retention': sweep(60 * minuteMs),
  /** Adds the hours that have ended to the statistics of executions. */
  'roll-up-executions': sweep(5 * minuteMs),
  /** Applies a delivery about an order that was paid or refunded at Polar. */
  'apply-billing': deliveryJob(10),
  /** Applies a delivery about the status of an e-mail. */
  'update-email': deliveryJob(10),
  /** Gets the status of the payment of a callback. */
  'confirm-payment': deliveryJob(10),
  /**
   * Stores the held tokens of payment callbacks that a payment has, and searches the others at
   * Flow, a few a minute.
   */
  'sweep-held-tokens': sweep(2_000),
  /** Gets the statuses of pending payments (docs/reference/payments.md#reconciliation). */
  'reconcile-payments': sweep(5 * minuteMs),
} as const;

/** The job that processes the deliveries of each webhook endpoint. */
export const deliveryJobs: Readonly<Record<string, DeliveryJobName>> = {
  '/webhook/clerk': 'sync-identity',
  '/webhook/kapso/project': 'update-channel',
  '/webhook/kapso/messages': 'receive-messages',
  '/webhook/polar': 'apply-billing',
  '/webhook/flow': 'confirm-payment',
  '/webhook/resend': 'update-email',
};

export type JobName = keyof typeof jobCatalog;
type DeliveryJobName = {
  [N in JobName]: (typeof jobCatalog)[N] extends JobDefinition<typeof deliveries> ? N : never;
}[JobName];
export type JobPayload<N extends JobName> = z.output<(typeof jobCatalog)[N]['payload']>;

/** The data of a job in Redis: its payload and the id of the request that caused it. */
export interface JobEnvelope<N extends JobName = JobName> {
  payload: JobPayload<N>;
  requestId?: string;
}

export const jobNames = Object.keys(jobCatalog) as JobName[];
export const definitionOf = (name: JobName): JobDefinition => jobCatalog[name] as JobDefinition;

/**
 * Prefix of the keys of a queue. The part in braces is the hash tag of Redis Cluster: the keys of
 * one queue, which scripts use together, are in one slot, and the queues are spread over the nodes.
 */
export const queuePrefixOf = (name: JobName): string => `{parley-${name}}`;

/** Prefix of all other keys that are not counters of a limit. Each command uses one of them. */
export const keyPrefix = 'parley';
