import type { Payments } from '@parley/payments';
import type { JobContext } from '@parley/redis';
import type { Logger, Metrics } from '@parley/service';

/**
 * Asks the payment provider about pending payments, every 5 minutes (libs/redis job-catalog.ts,
 * docs/reference/payments.md#reconciliation).
 */
export function createReconcilePayments({
  payments,
  log,
  metrics,
}: {
  payments: Payments;
  log: Logger;
  metrics?: Metrics;
}) {
  const finished = metrics?.gauge(
    'payments_reconciliation_finished_timestamp_seconds',
    'When the last reconciliation of payments in this process ended, in Unix seconds.',
    [],
  );
  const unfinished = metrics?.gauge(
    'payments_reconciliation_unfinished',
    'Integrations that the last reconciliation in this process could not finish.',
    [],
  );
  return async (_payload: object, { signal }: JobContext): Promise<void> => {
    const report = await payments.reconcile({ signal });
    if (signal.aborted) throw signal.reason;
    finished?.set(Math.round(Date.now() / 1000));
    unfinished?.set(report.problems.length);
    if (report.problems.length > 0) log.warn({ ...report }, 'payments reconciled, not all of them');
    else log.info({ ...report }, 'payments reconciled');
  };
}
