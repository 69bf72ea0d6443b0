import type { Scope } from '@parley/contracts';
import type { Origin } from '@parley/events';
import { type Confirmed, createConfirmByToken } from './confirm-by-token';
import { type CreatePaymentInput, type CreatePaymentResult, createPayment } from './create-payment';
import type { PaymentsDeps } from './deps';
import { type GetStatusResult, getPaymentStatus } from './get-status';
import { type ReconcileOptions, type ReconcileReport, reconcile } from './reconcile';

/** Payments through Flow (interface.md, Payment tools, Payment provider webhook, Payment provider integration). */
export interface Payments {
  create(scope: Scope, input: CreatePaymentInput): Promise<CreatePaymentResult>;
  getStatus(scope: Scope, input: Origin & { paymentId: string; signal?: AbortSignal }): Promise<GetStatusResult>;
  /** `token`: as the provider's callback brings it. */
  confirmByToken(token: string): Promise<Confirmed>;
  reconcile(options?: ReconcileOptions): Promise<ReconcileReport>;
}

export function createPayments(deps: PaymentsDeps): Payments {
  return {
    create: (scope, input) => createPayment(deps, scope, input),
    getStatus: (scope, input) => getPaymentStatus(deps, scope, input),
    confirmByToken: createConfirmByToken(deps),
    reconcile: (options) => reconcile(deps, options),
  };
}
