import type { JobsOptions, Queue } from 'bullmq';
import {
  type JobEnvelope,
  type JobName,
  type JobPayload,
  definitionOf,
  jobNames,
  queuePrefixOf,
} from './job-catalog';
import type { RedisConnection } from './connect-redis';
import { type HeldTokens, createHeldTokens } from './held-tokens';

/**
 * Redis does not accept a job. The work is recorded in PostgreSQL before a job is sent, so a
 * sweep will find it.
 */
export class QueueUnavailable extends Error {
  constructor(name: JobName, cause: unknown) {
    super(`Queue ${name} is not available`, { cause });
    this.name = 'QueueUnavailable';
  }
}

export interface EnqueueOptions {
  requestId?: string;
  delayMs?: number;
}

export interface Queues {
  /** Sends a job, or throws QueueUnavailable at the deadline. */
  enqueue<N extends JobName>(
    name: N,
    payload: JobPayload<N>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /**
   * Sends several jobs in one round trip. When it throws QueueUnavailable, some of them
   * may have been sent.
   */
  enqueueAll<N extends JobName>(
    name: N,
    jobs: readonly { payload: JobPayload<N>; requestId?: string }[],
  ): Promise<void>;
  /**
   * Creates the schedules of the repeating jobs that are missing, such as after Redis
   * has lost its data.
   */
  schedule(): Promise<void>;
  /** Returns the number of jobs of each queue, and how long the oldest waiting one has waited. */
  depths(): Promise<QueueDepth[]>;
  heldTokens: HeldTokens;
  close(): Promise<void>;
}

export interface QueueDepth {
  name: JobName;
  states: Record<'waiting' | 'active' | 'delayed', number>;
  oldestWaitingMs: number;
}

const defaultDeadlineMs = 2_000;

export interface QueuesOptions {
  /** A connection of the role `producer`. */
  redis: RedisConnection;
  /** Time without an answer from Redis after which sending fails. Default 2 s. */
  deadlineMs?: number;
}

/** Creates the sender of jobs. */
export function createQueues({ redis, deadlineMs = defaultDeadlineMs }: QueuesOptions): Queues {
  const open = new Map<JobName, Queue>();
  const queueOf = async (name: JobName): Promise<Queue> => {
    const known = open.get(name);
    if (known) return known;
    // Loaded at the first job: it takes 7 MB, and most processes of the Data API never send one
    // (docs/adr/0076).
    const { Queue } = await import('bullmq');
    let queue = open.get(name);
    if (queue === undefined) {
      queue = new Queue(name, {
        connection: redis,
        prefix: queuePrefixOf(name),
        skipVersionCheck: true,
      });
      queue.on('error', () => {}); // reported by `onError` of the connection
      open.set(name, queue);
    }
    return queue;
  };

  /**
   * Without a deadline BullMQ waits until Redis is available again, while a caller
   * waits for the answer.
   */
  async function withDeadline(
    name: JobName,
    work: (queue: Queue) => Promise<unknown>,
  ): Promise<void> {
    if (redis.status !== 'ready') throw new QueueUnavailable(name, `Redis is ${redis.status}`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    });
    try {
      await Promise.race([queueOf(name).then(work), late]);
    } catch (error) {
      throw new QueueUnavailable(name, error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async enqueue(name, payload, { requestId, delayMs } = {}) {
      const envelope: JobEnvelope<typeof name> = { payload, requestId };
      const jobId = jobIdOf(name, payload);
      await withDeadline(name, (queue) =>
        queue.add(name, envelope, { ...optionsOf(name), jobId, delay: delayMs }),
      );
    },
    async enqueueAll(name, jobs) {
      const all = jobs.map(({ payload, requestId }) => {
        const data: JobEnvelope<typeof name> = { payload, requestId };
        return { name, data, opts: { ...optionsOf(name), jobId: jobIdOf(name, payload) } };
      });
      await withDeadline(name, (queue) => queue.addBulk(all));
    },
    async schedule() {
      for (const name of jobNames) {
        const { everyMs } = definitionOf(name);
        if (everyMs === undefined) continue;
        await withDeadline(name, async (queue) => {
          const known = await queue.getJobScheduler(name);
          if (known?.every === everyMs) return;
          await queue.upsertJobScheduler(
            name,
            { every: everyMs },
            { name, data: { payload: {} }, opts: optionsOf(name) },
          );
        });
      }
    },
    async depths() {
      const found: QueueDepth[] = [];
      for (const name of jobNames) {
        await withDeadline(name, async (queue) => {
          const [counts, [oldest]] = await Promise.all([
            queue.getJobCounts('waiting', 'active', 'delayed'),
            queue.getJobs(['waiting'], 0, 0, true),
          ]);
          const { waiting = 0, active = 0, delayed = 0 } = counts;
          const oldestWaitingMs =
            oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.timestamp - oldest.delay);
          found.push({ name, states: { waiting, active, delayed }, oldestWaitingMs });
        });
      }
      return found;
    },
    heldTokens: createHeldTokens(redis),
    async close() {
      await Promise.allSettled([...open.values()].map((queue) => queue.close()));
    },
  };
}

function jobIdOf<N extends JobName>(name: N, payload: JobPayload<N>): string | undefined {
  const jobId = definitionOf(name).id?.(payload);
  if (jobId?.includes(':'))
    throw new Error(`Job id ${jobId} of ${name} contains a colon, which BullMQ reserves`);
  return jobId;
}

/**
 * Finished jobs are removed: BullMQ ignores a new job with the id of a kept one. Results are
 * stored in PostgreSQL.
 */
function optionsOf(name: JobName): JobsOptions {
  const { attempts, backoffMs } = definitionOf(name);
  return {
    attempts,
    backoff: { type: 'exponential', delay: backoffMs, jitter: 0.2 },
    removeOnComplete: true,
    removeOnFail: true,
  };
}
