import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import {
  type JobEnvelope,
  type JobName,
  type JobPayload,
  definitionOf,
  jobNames,
  queuePrefixOf,
} from './job-catalog';
import type { RedisConnection } from './connect-redis';
import { pauseOnRefusal } from './pause-on-refusal';
import { reportRarely } from './report-rarely';

export interface JobContext {
  jobId: string;
  requestId: string | undefined;
  /** The number of this attempt, from 1. */
  attempt: number;
  /** Whether this is the last attempt, whose failure the handler should record. */
  isLastAttempt: boolean;
  /**
   * Aborted at shutdown. A handler that stops throws `signal.reason`, and another
   * worker runs the job.
   */
  signal: AbortSignal;
}

export type JobHandlers = {
  [N in JobName]: (payload: JobPayload<N>, context: JobContext) => Promise<void>;
};

export interface ConsumeOptions {
  /** A connection of the role `worker`. */
  redis: RedisConnection;
  handlers: JobHandlers;
  /** Called once for each attempt of a job. */
  onFinished?: (outcome: JobOutcome) => void;
  /**
   * Called at most every 5 s, with the latest error and the number of errors since the last call.
   */
  onError?: (error: Error, count: number) => void;
}

export interface JobOutcome {
  name: JobName;
  jobId: string;
  requestId: string | undefined;
  attempt: number;
  status: 'done' | 'retry' | 'failed' | 'interrupted';
  durationMs: number;
  error?: unknown;
}

/**
 * Another worker continues the jobs of a killed one after the lock has expired and at most two
 * checks have passed, which takes less than 5 s, except for sweeps: workers take turns at the
 * check, and a killed worker misses its turn. A job can run twice at the same time, so handlers
 * must allow for it.
 */
const lockMs = 2_500;
const usualCheckMs = 1_000;
const slowestCheckMs = 10_000;
/**
 * The sweep of a killed worker is continued later: by this check, or by the next run of the sweep.
 */
const stalledCheckMs = (name: JobName): number =>
  Math.min(slowestCheckMs, Math.max(usualCheckMs, definitionOf(name).everyMs ?? 0));
/**
 * Time for reporting the ends of jobs to Redis at shutdown. BullMQ would wait for a Redis that is
 * away until it is back. A job whose end is not reported runs again, as after a crash.
 */
const closeLimitMs = 3_000;

/**
 * Runs the jobs of all queues. A handler reads the state of its row first, and returns when the
 * work is already done.
 */
export function consume({ redis, handlers, onFinished, onError }: ConsumeOptions) {
  const shutdown = new AbortController();
  const running = new Set<Promise<void>>();
  const reportError = reportRarely((error, count) => onError?.(error, count));

  const run = async (name: JobName, job: Job<JobEnvelope>, token?: string): Promise<void> => {
    const startedAtMs = performance.now();
    const { attempts } = definitionOf(name);
    const attempt = job.attemptsMade + 1;
    const outcome = { name, jobId: job.id!, requestId: job.data.requestId, attempt };
    const finish = (status: JobOutcome['status'], error?: unknown) =>
      onFinished?.({ ...outcome, status, durationMs: performance.now() - startedAtMs, error });
    const payload = definitionOf(name).payload.safeParse(job.data.payload);
    if (!payload.success) {
      const error = new UnrecoverableError(
        `The payload of ${name} is not valid: ${payload.error.message}`,
      );
      finish('failed', error);
      throw error;
    }
    try {
      const handle = handlers[name] as (payload: unknown, context: JobContext) => Promise<void>;
      const handling = handle(payload.data, {
        ...outcome,
        isLastAttempt: attempt >= attempts,
        signal: shutdown.signal,
      });
      running.add(handling);
      await handling.finally(() => running.delete(handling));
      finish('done');
    } catch (error) {
      if (shutdown.signal.aborted && error === shutdown.signal.reason) {
        finish('interrupted');
        await job.moveToWait(token);
        throw new WaitingError();
      }
      finish(attempt >= attempts ? 'failed' : 'retry', error);
      throw error instanceof Error ? error : new Error(String(error));
    }
  };

  const workers = jobNames.map((name) => {
    const worker = new Worker<JobEnvelope>(name, (job, token) => run(name, job, token), {
      connection: redis,
      prefix: queuePrefixOf(name),
      concurrency: definitionOf(name).concurrency,
      lockDuration: lockMs,
      stalledInterval: stalledCheckMs(name),
      // Crashes of workers do not count as failures of the job, which `attempts` limits.
      maxStalledCount: 1_000,
      runRetryDelay: 1_000,
      skipVersionCheck: true,
    });
    worker.on('error', reportError);
    return { worker, endPauses: pauseOnRefusal(worker) };
  });

  return {
    /** Takes no more jobs, aborts the running ones and waits for them. */
    async close(): Promise<void> {
      shutdown.abort(new Error('The worker is shutting down'));
      for (const { endPauses } of workers) endPauses();
      let isClosed = false;
      const closed = Promise.allSettled(
        workers.map(({ worker }) => worker.close(redis.status !== 'ready')),
      ).then(() => (isClosed = true));
      // A worker can still receive a job that it asked for earlier.
      do {
        await Promise.allSettled(running);
        await Promise.race([closed, sleep(closeLimitMs, undefined, { ref: false })]);
      } while (running.size > 0);
      if (!isClosed) for (const { worker } of workers) void worker.getBackend().close(true);
    },
  };
}
