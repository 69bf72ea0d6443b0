import { createHash } from 'node:crypto';
import { z } from 'zod';

/** What is known of a kind of job: the one place that both its senders and its worker read. */
export interface JobDefinition<P extends z.ZodType = z.ZodType> {
  /** Ids, not rows: a job first reads the state of what it names. */
  payload: P;
  /** Tries in all; waits grow exponentially from `backoffMs`. */
  attempts: number;
  backoffMs: number;
  /** How many of them one worker process runs at a time. */
  concurrency: number;
  /** Two jobs of one id are one while the first is waiting or running. Null lets each stand for itself. */
  id: ((payload: z.output<P>) => string) | null;
  /** Runs by itself, once in this time over all workers; its payload is empty. */
  everyMs?: number;
}

const job = <P extends z.ZodType>(definition: JobDefinition<P>) => definition;
const nothing = z.object({});
const minuteMs = 60_000;
/** For ids: what others wrote may hold a colon, or be long. */
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 40);

/** Works off one stored webhook delivery. The row is the promise, and the sweep sends the job again until it is kept. */
const deliveryJob = (concurrency: number) =>
  job({
    payload: z.object({ deliveryId: z.string() }),
    attempts: 8,
    backoffMs: 1_000,
    concurrency,
    id: ({ deliveryId }) => deliveryId,
  });
/** Finds what has no job, or has lost it, in the database. */
const sweep = (everyMs: number) =>
  job({ payload: nothing, attempts: 1, backoffMs: 1_000, concurrency: 1, id: null, everyMs });

/** Every job of the product. A name without a handler in the worker does not compile. */
const jobCatalog = {
  /** Rewrites the search text of a type's entities after its `searchFields` changed. The row says what is left to do. */
  'reindex-entity-type': job({
    payload: z.object({ typeId: z.string() }),
    attempts: 8,
    backoffMs: 1_000,
    concurrency: 2,
    id: ({ typeId }) => typeId,
  }),
  /** Sends the jobs of types that wait for reindexing: after a push, and again and again since jobs may be lost. */
  'sweep-reindexing': job({
    payload: nothing,
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 1,
    id: null,
    everyMs: minuteMs,
  }),
  /** Removes answers kept under an Idempotency-Key for longer than a day. */
  'sweep-idempotency': job({
    payload: nothing,
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 1,
    id: null,
    everyMs: 15 * minuteMs,
  }),
  /** One trigger run, and the later ones of its entity. The row says what is left to do, and tries are its own. */
  'run-triggers': job({
    payload: z.object({ runId: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 24,
    id: ({ runId }) => runId,
  }),
  /** Users, organizations and memberships, from the identity provider's deliveries. */
  'sync-identity': deliveryJob(10),
  /** Sends the jobs of deliveries that were stored while Redis was away or that it has lost. */
  'sweep-deliveries': sweep(5_000),
  /** Deletes all data of an organization, in batches; its row says what is done. */
  'purge-organization': job({
    payload: z.object({ organizationId: z.string() }),
    attempts: 5,
    backoffMs: 5_000,
    concurrency: 1,
    id: ({ organizationId }) => organizationId,
  }),
  /** Sends the jobs of purges that are due. */
  'sweep-purges': sweep(minuteMs),
  /** Phone numbers that were connected at the WhatsApp intermediary, or taken away. */
  'update-channel': deliveryJob(5),
  /** Messages that came in, and statuses of those that went out: kept, not answered. */
  'receive-messages': deliveryJob(20),
  /**
   * Answers what waits in one conversation. Tries are counted on the messages. What comes in just as its job ends has none,
   * and the sweep sends another: better than one more with every sweep while workers are behind.
   */
  'answer-conversation': job({
    payload: z.object({ connectionId: z.string(), contact: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 24,
    id: ({ connectionId, contact }) => `${connectionId}-${digestOf(contact)}`,
  }),
  /** One try at a message of the outbox; tries are counted on its row. */
  'send-message': job({
    payload: z.object({ messageId: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 10,
    id: ({ messageId }) => messageId,
  }),
  /** One try at an e-mail of the outbox. */
  'send-email': job({
    payload: z.object({ emailId: z.string() }),
    attempts: 1,
    backoffMs: 1_000,
    concurrency: 5,
    id: ({ emailId }) => emailId,
  }),
  /**
   * Sends the jobs of what should have been answered or sent by now. Behind a killed worker it waits for a lease of 4 s, and
   * within 5 s another one is to be at work.
   */
  'sweep-channels': sweep(1_000),
  /** Registers webhooks at the WhatsApp intermediary again whose secret is not derived from the current one. */
  'sweep-registrations': sweep(minuteMs),
  /** Removes deliveries, early statuses, events and trigger runs that have been kept long enough. */
  'sweep-retention': sweep(60 * minuteMs),
  /** Orders that were paid or refunded at the billing platform. */
  'apply-billing': deliveryJob(10),
  /** What became of e-mails. */
  'update-email': deliveryJob(10),
  /** Looks at the payment that a callback of the payment provider names; by its token where it could not be stored. */
  'confirm-payment': job({
    payload: z.union([z.object({ deliveryId: z.string() }), z.object({ token: z.string() })]),
    attempts: 8,
    backoffMs: 1_000,
    concurrency: 10,
    id: (payload) => ('deliveryId' in payload ? payload.deliveryId : `token-${digestOf(payload.token)}`),
  }),
  /** Asks the payment provider about pending payments (interface.md, Reconciliation). */
  'reconcile-payments': sweep(5 * minuteMs),
} as const;

/** Which job works off the deliveries of a webhook path. */
export const deliveryJobs: Readonly<Record<string, JobName>> = {
  '/webhook/clerk': 'sync-identity',
  '/webhook/kapso/project': 'update-channel',
  '/webhook/kapso/messages': 'receive-messages',
  '/webhook/polar': 'apply-billing',
  '/webhook/flow': 'confirm-payment',
  '/webhook/resend': 'update-email',
};

export type JobName = keyof typeof jobCatalog;
export type JobPayload<N extends JobName> = z.output<(typeof jobCatalog)[N]['payload']>;

/** What travels: the payload, and the request that caused it. */
export interface JobEnvelope<N extends JobName = JobName> {
  payload: JobPayload<N>;
  requestId?: string;
}

export const jobNames = Object.keys(jobCatalog) as JobName[];
export const definitionOf = (name: JobName): JobDefinition => jobCatalog[name] as JobDefinition;

/** Namespace of the queues' keys in Redis. */
export const queuePrefix = 'parley';
