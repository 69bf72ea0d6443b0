import { type Queues, type RedisConnection, createRelay } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';

export interface RelayDeps {
  queues: Queues;
  /** Of the role `worker`. */
  redis: RedisConnection;
  triggers: Triggers;
  log: Logger;
}

/** The longest wait of a run whose time has come while nobody rang. */
const sweepEveryMs = 500;

/**
 * Turns events into runs and sends the jobs of runs that are due: at once when a change rings, and twice a second in any
 * case. Every worker does; the rows keep them apart. A job that cannot be sent now is sent by a later sweep.
 */
export function relayEvents({ queues, redis, triggers, log }: RelayDeps): ReturnType<typeof createRelay> {
  let sweepAtMs = 0;
  const send = async (due: readonly { id: string; requestId: string | null }[]) => {
    if (due.length === 0) return;
    const jobs = due.map(({ id, requestId }) => ({ payload: { runId: id }, requestId: requestId ?? undefined }));
    await queues
      .enqueueAll('run-triggers', jobs)
      .catch((error: unknown) => log.warn({ err: error, runs: due.length }, 'runs wait for the sweep'));
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
  return createRelay(redis, work, (error) => log.warn({ err: error }, 'relay'));
}
