import { waitingExecutions } from '@parley/agents';
import { waitingMessages } from '@parley/channels';
import type { Queryable } from '@parley/db';
import type { Queues } from '@parley/redis';
import type { Logger, Metrics } from '@parley/service';
import { waitingRuns } from '@parley/triggers';
import { waitingDeliveries } from '@parley/webhooks';

interface Deps {
  db: Queryable;
  queues: Queues;
  metrics: Metrics;
  log: Pick<Logger, 'warn'>;
}

/** Long enough for all metrics of one scrape to share one read. */
const cacheMs = 1_000;

/**
 * Registers metrics of the waiting work: jobs in Redis, deliveries and trigger runs in PostgreSQL.
 * They are read at each scrape. Every worker reports the same values, so dashboards use the
 * maximum. A value that cannot be read is left out.
 */
export function registerWorkMetrics({ db, queues, metrics, log }: Deps): void {
  function gauge<R, L extends string>(
    [name, help, labels]: [name: string, help: string, labels: L[]],
    read: () => Promise<R[]>,
    valuesOf: (row: R) => [labels: Partial<Record<L, string>>, value: number][],
  ): void {
    const registered = metrics.gauge(name, help, labels, async () => {
      registered.reset();
      try {
        for (const row of await read())
          for (const [labels, value] of valuesOf(row)) registered.set(labels, value);
      } catch (error) {
        log.warn({ err: error, metric: name }, 'a metric could not be read');
      }
    });
  }

  const depths = recently(() => queues.depths());
  gauge(
    ['queue_jobs', 'Jobs in Redis, by their state.', ['queue', 'state']],
    depths,
    ({ name, states }) =>
      Object.entries(states).map(([state, count]) => [{ queue: name, state }, count]),
  );
  gauge(
    ['queue_oldest_job_age_seconds', 'How long the next job of a queue has waited.', ['queue']],
    depths,
    ({ name, oldestWaitingMs }) => [[{ queue: name }, oldestWaitingMs / 1_000]],
  );

  const deliveries = recently(() => waitingDeliveries(db));
  gauge(
    ['webhook_deliveries_waiting', 'Deliveries that are not processed yet.', ['provider']],
    deliveries,
    ({ provider, waiting }) => [[{ provider }, waiting]],
  );
  gauge(
    [
      'webhook_delivery_lag_seconds',
      'Age of the oldest delivery that is not processed yet.',
      ['provider'],
    ],
    deliveries,
    ({ provider, lag }) => [[{ provider }, lag]],
  );

  for (const [count, lag, what, read] of [
    ['trigger_runs_waiting', 'trigger_run_lag_seconds', 'due trigger runs', waitingRuns],
    ['messages_waiting', 'message_lag_seconds', 'messages of contacts', waitingMessages],
    ['executions_waiting', 'execution_lag_seconds', 'background executions', waitingExecutions],
  ] as const) {
    const rows = recently(() => read(db));
    gauge([count, `Number of ${what} that no process has begun.`, []], rows, ({ waiting }) => [
      [{}, waiting],
    ]);
    gauge([lag, `How long the oldest of the ${what} has waited.`, []], rows, ({ lag: seconds }) => [
      [{}, seconds],
    ]);
  }
}

function recently<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | undefined;
  return () => {
    if (kept === undefined || performance.now() - kept.at > cacheMs)
      kept = { at: performance.now(), value: read() };
    return kept.value;
  };
}
