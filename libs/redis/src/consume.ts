import { type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { type JobEnvelope, type JobName, type JobPayload, definitionOf, jobNames, queuePrefix } from './catalog';
import type { RedisConnection } from './redis';

export interface JobContext {
  jobId: string;
  requestId: string | undefined;
  /** From 1. */
  attempt: number;
  /** A failure now is final: write it where people look. */
  isLastAttempt: boolean;
  /** Aborted at shutdown. A handler that stops for it throws `signal.reason`, and the job goes to another worker. */
  signal: AbortSignal;
}

export type JobHandlers = {
  [N in JobName]: (payload: JobPayload<N>, context: JobContext) => Promise<void>;
};

export interface ConsumeOptions {
  /** Of the role `worker`. */
  redis: RedisConnection;
  handlers: JobHandlers;
  /** Told once for each try of a job. */
  onFinished?: (outcome: JobOutcome) => void;
  onError?: (error: Error) => void;
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

export interface Consumer {
  /** Takes no more jobs, asks running ones to stop and waits for them. */
  close(): Promise<void>;
}

/**
 * A killed worker's jobs go to another within the lock and two checks, under 5 s: the workers take turns at the check, and
 * when the one whose turn it was is killed, the next looks only a round later. Handlers bear to be run twice at a time.
 */
const lockMs = 2_500;
const stalledCheckMs = 1_000;

/** Runs the jobs of every queue. Handlers first read state and return when the work is already done. */
export function consume({ redis, handlers, onFinished, onError }: ConsumeOptions): Consumer {
  const shutdown = new AbortController();

  const run = async (name: JobName, job: Job<JobEnvelope>, token?: string): Promise<void> => {
    const startedAtMs = performance.now();
    const { attempts } = definitionOf(name);
    const attempt = job.attemptsMade + 1;
    const outcome = { name, jobId: job.id!, requestId: job.data.requestId, attempt };
    const finish = (status: JobOutcome['status'], error?: unknown) =>
      onFinished?.({ ...outcome, status, durationMs: performance.now() - startedAtMs, error });
    const payload = definitionOf(name).payload.safeParse(job.data.payload);
    if (!payload.success) {
      const error = new UnrecoverableError(`Payload of ${name} is not valid: ${payload.error.message}`);
      finish('failed', error);
      throw error;
    }
    try {
      const handle = handlers[name] as (payload: unknown, context: JobContext) => Promise<void>;
      await handle(payload.data, { ...outcome, isLastAttempt: attempt >= attempts, signal: shutdown.signal });
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
      prefix: queuePrefix,
      concurrency: definitionOf(name).concurrency,
      lockDuration: lockMs,
      stalledInterval: stalledCheckMs,
      // Being redelivered after crashes is no fault of the job; `attempts` counts its own failures.
      maxStalledCount: 1_000,
      runRetryDelay: 1_000,
      skipVersionCheck: true,
    });
    worker.on('error', (error) => onError?.(error));
    return worker;
  });

  return {
    async close() {
      shutdown.abort(new Error('The worker is shutting down'));
      await Promise.allSettled(workers.map((worker) => worker.close()));
    },
  };
}
