import type { PaymentObservation } from './deps';

/** The part of a process's metrics that is used here. */
interface Counters {
  counter<L extends string>(
    name: string,
    help: string,
    labels: L[],
  ): { inc(labels: Record<L, string>): void };
}

/** Returns an observer that counts payments. Labels never contain texts of a provider. */
export function countPayments(metrics: Counters): (observation: PaymentObservation) => void {
  const created = metrics.counter(
    'payments_created_total',
    'Payments by whether a link was created.',
    ['result'],
  );
  const settled = metrics.counter(
    'payments_settled_total',
    'Payments that left pending, by status and source.',
    ['status', 'source'],
  );
  const mismatches = metrics.counter(
    'payment_mismatches_total',
    'Statuses of the provider that do not match the payment: wrong order, amount or currency, or too late.',
    ['source'],
  );
  const reconciled = metrics.counter(
    'payments_reconciled_total',
    'Payments checked by reconciliation, by result.',
    ['result'],
  );
  return (observation) => {
    switch (observation.kind) {
      case 'created':
        return created.inc({ result: observation.result });
      case 'settled':
        return settled.inc({ status: observation.status, source: observation.source });
      case 'mismatch':
        return mismatches.inc({ source: observation.source });
      case 'reconciled':
        return reconciled.inc({ result: observation.result });
    }
  };
}
