import type { Scope } from '@parley/contracts';
import type { Origin } from '@parley/events';
import { createConfirmByToken, createSearchToken } from './confirm-by-token';
import { type CreatePaymentInput, createPayment } from './create-payment';
import type { PaymentsDeps } from './deps';
import { getPaymentStatus } from './get-status';
import { type ReconcileOptions, reconcile } from './reconcile';

export type Payments = ReturnType<typeof createPayments>;

/** Payments through Flow (docs/reference/payments.md). */
export function createPayments(deps: PaymentsDeps) {
  const searchToken = createSearchToken(deps);
  return {
    create: (scope: Scope, input: CreatePaymentInput) => createPayment(deps, scope, input),
    getStatus: (scope: Scope, input: Origin & { paymentId: string; signal?: AbortSignal }) =>
      getPaymentStatus(deps, scope, input),
    /** Takes the token of the provider's callback. */
    confirmByToken: createConfirmByToken(deps, searchToken),
    searchToken,
    reconcile: (options?: ReconcileOptions) => reconcile(deps, options),
  };
}
