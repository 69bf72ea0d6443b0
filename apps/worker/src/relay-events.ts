import { type Queues, type RedisConnection, createRelay } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';

export interface RelayDeps {
  queues: Queues;
  /** Opened with the role `worker`. */
  redis: RedisConnection;
  triggers: Triggers;
  /** Executes due runs of a tenant in this process. */
  wake: (tenant: number) => void;
  log: Logger;
}

/** Jobs sent at a time for one tenant. More would only delay the jobs of others: a worker continues with the tenant's runs. */
const jobsOfTenant = 32;

/** Maximum delay of a due run when no process has notified the relay. */
const sweepEveryMs = 500;

/**
 * Plans trigger runs for new events and enqueues the jobs of due runs, on notification and at least twice a second. Every
 * worker does this; row locks prevent duplicates. A job that cannot be enqueued now is enqueued by a later sweep.
 */
export function relayEvents({ queues, redis, triggers, wake, log }: RelayDeps): ReturnType<typeof createRelay> {
  let sweepAtMs = 0;
  const send = async (due: readonly { tenant: number; id: string; requestId: string | null }[]) => {
    if (due.length === 0) return;
    const jobs = [...Map.groupBy(due, ({ tenant }) => tenant)].flatMap(([tenant, runs]) => {
      if (runs.length > jobsOfTenant) wake(tenant);
      return runs.slice(0, jobsOfTenant).map(({ id, requestId }) => ({
        payload: { tenant, runId: id },
        requestId: requestId ?? undefined,
      }));
    });
    await queues
      .enqueueAll('run-triggers', jobs)
      .catch((error: unknown) => log.warn({ err: error, runs: due.length }, 'jobs of runs could not be enqueued'));
  };
  const work = async (): Promise<number> => {
    for (let hasMore = true; hasMore;) {
      const planned = await triggers.relay();
      await send(planned.due);
      hasMore = planned.hasMore;
    }
    const waitMs = sweepAtMs - performance.now();
    if (waitMs > 0) return waitMs;
    const { due, nextInMs } = await triggers.sweep();
    await send(due);
    const restMs = Math.min(sweepEveryMs, nextInMs ?? sweepEveryMs);
    sweepAtMs = performance.now() + restMs;
    return restMs;
  };
  return createRelay(redis, work, (error) => log.warn({ err: error }, 'the relay failed and will be retried'));
}
