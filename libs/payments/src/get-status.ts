import type { Scope } from '@parley/contracts';
import type { Origin } from '@parley/events';
import { applyPaymentStatus } from './apply-payment-status';
import { describeFailure } from './create-payment';
import type { PaymentsDeps } from './deps';
import { findFlowAccount } from './flow/flow-account';
import { createFlowClient } from './flow/flow-client';
import { type Payment, findPayment } from './payment';

export type GetStatusResult =
  | {
      ok: true;
      payment: Payment;
      /** Absent while the provider has no order. */ flow?: { status: number; message: string };
    }
  | { ok: false; reason: 'not_found' }
  /** Flow returned no status, or one that does not match the payment, which is unchanged. */
  | { ok: false; reason: 'provider_failed' | 'mismatch'; message: string; payment: Payment };

/**
 * Returns a payment with its current status at Flow, after applying that status to the payment
 * (docs/reference/payments.md#getting-a-status).
 */
export async function getPaymentStatus(
  deps: PaymentsDeps,
  scope: Scope,
  { paymentId, signal, ...origin }: Origin & { paymentId: string; signal?: AbortSignal },
): Promise<GetStatusResult> {
  const payment = await findPayment(deps.entities, scope, paymentId);
  if (payment === null) return { ok: false, reason: 'not_found' };
  if (payment.providerReference === undefined) return { ok: true, payment };
  const found = await findFlowAccount(deps, scope, { activeOnly: false });
  if (!found.ok) return { ok: false, reason: 'provider_failed', message: found.message, payment };
  const flow = createFlowClient(found.account, { ...deps.flow, signal });
  const answer = await flow.getStatusByFlowOrder(payment.providerReference);
  if (!answer.ok)
    return { ok: false, reason: 'provider_failed', message: describeFailure(answer), payment };
  const { status } = answer;
  const applied = await applyPaymentStatus(deps, scope, {
    paymentId,
    status,
    source: 'tool',
    origin,
  });
  if (!applied.ok && applied.reason === 'mismatch') {
    deps.observe?.({ kind: 'mismatch', source: 'tool' });
    const message = `The status of Flow does not match the payment: ${applied.problem}`;
    return { ok: false, reason: 'mismatch', message, payment };
  }
  const settled =
    applied.ok && applied.changed ? await findPayment(deps.entities, scope, paymentId) : payment;
  return {
    ok: true,
    payment: settled ?? payment,
    flow: { status: status.code, message: status.message },
  };
}
