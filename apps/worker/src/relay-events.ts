import { LRUCache } from 'lru-cache';
import { type Queues, type RedisConnection, createRelay } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';

export interface RelayDeps {
  queues: Queues;
  /** Opened with the role `worker`. */
  redis: RedisConnection;
  triggers: Triggers;
  runs: {
    /** Executes due runs of a tenant in this process. */
    wake(tenant: number): void;
    /** Whether runs of the tenant wait in this process. */
    isBusy(tenant: number): boolean;
  };
  log: Logger;
}

/** Minimum time between two jobs for a tenant, which ask other processes to help. */
const askEveryMs = 100;

/** Maximum delay of a due run when no process has notified the relay. */
const sweepEveryMs = 500;

/**
 * Plans trigger runs for new events, on notification and at least twice a second, and begins runs
 * that are due in this process. A job asks the other processes to help when a tenant has more runs
 * than this process may begin now. Every worker does this; row locks prevent duplicates. What a
 * killed process was to begin is found by a later sweep.
 */
export function relayEvents({
  queues,
  redis,
  triggers,
  runs,
  log,
}: RelayDeps): ReturnType<typeof createRelay> {
  let sweepAtMs = 0;
  const askedAtMs = new LRUCache<number, number>({ max: 1_000, ttl: askEveryMs });
  const begin = async (due: readonly { tenant: number }[]): Promise<void> => {
    const tenants = new Set(due.map(({ tenant }) => tenant));
    const busy = [...tenants].filter((tenant) => runs.isBusy(tenant) && !askedAtMs.has(tenant));
    for (const tenant of tenants) runs.wake(tenant);
    if (busy.length === 0) return;
    for (const tenant of busy) askedAtMs.set(tenant, performance.now());
    await queues
      .enqueueAll(
        'run-triggers',
        busy.map((tenant) => ({ payload: { tenant } })),
      )
      .catch((error: unknown) =>
        log.warn({ err: error }, 'other workers could not be asked to execute runs'),
      );
  };
  const work = async (): Promise<number> => {
    for (let hasMore = true; hasMore;) {
      const planned = await triggers.relay();
      await begin(planned.due);
      hasMore = planned.hasMore;
    }
    const waitMs = sweepAtMs - performance.now();
    if (waitMs > 0) return waitMs;
    const { due, nextInMs } = await triggers.sweep();
    await begin(due);
    const restMs = Math.min(sweepEveryMs, nextInMs ?? sweepEveryMs);
    sweepAtMs = performance.now() + restMs;
    return restMs;
  };
  return createRelay(redis, work, (error) =>
    log.warn({ err: error }, 'the relay failed and will be retried'),
  );
}
