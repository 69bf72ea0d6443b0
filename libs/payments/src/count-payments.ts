import type { PaymentObservation } from './deps';

/** The part of a process's metrics that is needed here. */
interface Counters {
  counter<L extends string>(name: string, help: string, labels: L[]): { inc(labels: Record<L, string>): void };
}

/** Counts what happens to payments. Labels are words of ours, never of a provider. */
export function countPayments(metrics: Counters): (observation: PaymentObservation) => void {
  const created = metrics.counter('payments_created_total', 'Payments by whether they got their link.', ['result']);
  const settled = metrics.counter('payments_settled_total', 'Payments that left pending, by what moved them.', [
    'status',
    'source',
  ]);
  const mismatches = metrics.counter(
    'payment_mismatches_total',
    'Answers of the provider that are not about the payment: wrong order, amount or currency, or too late.',
    ['source'],
  );
  const reconciled = metrics.counter(
    'payments_reconciled_total',
    'Questions of reconciliation, by what came of them.',
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
