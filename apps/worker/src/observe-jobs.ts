import {
  type JobContext,
  type JobHandlers,
  type JobName,
  type JobOutcome,
  deliveryJobs,
} from '@parley/redis';
import type { Logger, Metrics, Tracer } from '@parley/service';

export type ObserveJob = ReturnType<typeof observeJobs>['observe'];

type Context = Pick<JobContext, 'jobId' | 'requestId' | 'attempt' | 'isLastAttempt' | 'signal'>;

/** Jobs of several units of work, each of which is reported by `observe`. */
const jobsOfUnits: ReadonlySet<string> = new Set<JobName>([
  ...Object.values(deliveryJobs),
  'run-triggers',
]);

/**
 * Adds a span, a metric and a log line to each attempt of a job. Units of work that share a job,
 * such as deliveries, have their own, in the trace of the request that caused them.
 */
export function observeJobs({
  log,
  metrics,
  tracer,
}: {
  log: Logger;
  metrics?: Metrics;
  tracer?: Tracer;
}) {
  const duration = metrics?.histogram(
    'job_duration_seconds',
    'Duration of one attempt of a job.',
    ['job', 'status'],
    [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
  );
  const span = <T>(name: string, { jobId, requestId, attempt }: Context, work: () => T): T =>
    tracer === undefined ? work() : tracer.job({ name, id: jobId, attempt, requestId }, work);

  /** The errors of units, which are also those of their jobs. */
  const reported = new WeakSet<object>();
  function report(outcome: JobOutcome): void {
    duration?.observe({ job: outcome.name, status: outcome.status }, outcome.durationMs / 1000);
    logOutcome(log, outcome);
  }

  return {
    onFinished(outcome: JobOutcome): void {
      const { name, error } = outcome;
      if (jobsOfUnits.has(name) && (error === undefined || reported.has(error as object))) return;
      report(outcome);
    },
    /** Adds a span to each attempt of a job. */
    traced(handlers: JobHandlers): JobHandlers {
      if (tracer === undefined) return handlers;
      const traced = Object.entries(handlers).map(([name, handle]) => [
        name,
        jobsOfUnits.has(name)
          ? handle
          : (payload: never, context: JobContext) =>
              span(name, context, () => handle(payload, context)),
      ]);
      return Object.fromEntries(traced) as JobHandlers;
    },
    /** Runs one unit of work of the job `name`, and reports it as an attempt of a job. */
    async observe<T>(name: JobName, context: Context, work: () => Promise<T>): Promise<T> {
      const { jobId, requestId, attempt, isLastAttempt, signal } = context;
      const startedAtMs = performance.now();
      const finish = (status: JobOutcome['status'], error?: unknown) =>
        report({
          name,
          jobId,
          requestId,
          attempt,
          status,
          durationMs: performance.now() - startedAtMs,
          error,
        });
      try {
        const result = await span(name, context, work);
        finish('done');
        return result;
      } catch (error) {
        if (signal.aborted && error === signal.reason) finish('interrupted');
        else finish(isLastAttempt ? 'failed' : 'retry', error);
        if (typeof error === 'object' && error !== null) reported.add(error);
        throw error;
      }
    },
  };
}

/** Logs one line for each attempt of a job. */
function logOutcome(log: Logger, { name, error, durationMs, ...outcome }: JobOutcome): void {
  const line = {
    job: name,
    ...outcome,
    durationMs: Math.round(durationMs * 100) / 100,
    err: error,
  };
  if (outcome.status === 'failed') log.error(line, 'job');
  else if (outcome.status === 'retry') log.warn(line, 'job');
  // Sweeps run every few seconds and mostly find nothing. What they find is logged separately.
  else if (name.startsWith('sweep-')) log.debug(line, 'job');
  else log.info(line, 'job');
}
