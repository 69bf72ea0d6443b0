import type { Queryable } from '@parley/db';
import type { Queues } from '@parley/queues';
import type { Logger, Metrics } from '@parley/service';

interface WatchDeps {
  db: Queryable;
  queues: Queues;
  metrics: Metrics;
  log: Pick<Logger, 'warn'>;
}

const waitingDeliveries = {
  name: 'waiting-deliveries',
  text: `select provider, count(*)::int as waiting, extract(epoch from now() - min(received_at))::float8 as lag
         from webhook_deliveries where status = 'received' group by provider`,
};
/** Runs that are due and that no worker has begun. */
const waitingRuns = {
  name: 'waiting-trigger-runs',
  text: `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as lag
         from trigger_runs where status = 'scheduled' and run_at <= now()`,
};

/**
 * What waits to be done, read when it is asked for: jobs in Redis, deliveries and runs of automations in PostgreSQL. Every
 * worker tells the same, so that dashboards take the maximum. What cannot be read is left out.
 */
export function watchWork({ db, queues, metrics, log }: WatchDeps): void {
  const gauge = <L extends string>(name: string, help: string, labels: L[], read: () => Promise<void>) => {
    const made = metrics.gauge(name, help, labels, async () => {
      made.reset();
      await read().catch((error: unknown) => log.warn({ err: error, metric: name }, 'a metric could not be read'));
    });
    return made;
  };

  const jobs = gauge('queue_jobs', 'Jobs in Redis, by their state.', ['queue', 'state'], async () => {
    for (const { name, states, oldestWaitingMs } of await queues.depths()) {
      for (const [state, count] of Object.entries(states)) jobs.set({ queue: name, state }, count);
      age.set({ queue: name }, oldestWaitingMs / 1_000);
    }
  });
  const age = metrics.gauge('queue_oldest_job_age_seconds', 'How long the next job of a queue has waited.', ['queue']);

  const lag = metrics.gauge(
    'webhook_delivery_lag_seconds',
    'Age of the oldest delivery that has not been worked off.',
    ['provider'],
  );
  const deliveries = gauge('webhook_deliveries_waiting', 'Deliveries not worked off yet.', ['provider'], async () => {
    lag.reset();
    const { rows } = await db.query<{ provider: string; waiting: number; lag: number }>(waitingDeliveries);
    for (const { provider, waiting, lag: seconds } of rows) {
      deliveries.set({ provider }, waiting);
      lag.set({ provider }, seconds);
    }
  });

  const runLag = metrics.gauge('trigger_run_lag_seconds', 'How long the oldest due run has waited.', []);
  const runs = gauge('trigger_runs_waiting', 'Runs of automations that are due and not begun.', [], async () => {
    const { rows } = await db.query<{ waiting: number; lag: number }>(waitingRuns);
    runs.set(rows[0]!.waiting);
    runLag.set(Math.max(0, rows[0]!.lag));
  });
}
