import type { Confirmed, Payments } from '@parley/payments';
import { type Outcome, readFormField } from '@parley/webhooks';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/** Processes a stored callback of the payment provider. */
export const createConfirmPayment = (deps: DeliveryJobDeps & { payments: Payments }) =>
  createDeliveryJob(deps, 'confirm-payment', 10, async ({ body }) => {
    const result = await deps.payments.confirmByToken(readFormField(body, 'token') ?? '');
    // The job is retried. After its last attempt, reconciliation asks for the status.
    if (!result.ok && result.reason === 'try_again') throw new Error(result.message);
    return outcomeOf(result);
  });

/** The outcome of a callback that is not tried again. */
export function outcomeOf(result: Confirmed): Outcome {
  const { organizationId, environment } = result.scope ?? {};
  if (result.ok) {
    const reason = result.changed
      ? `payment ${result.paymentId} is ${result.status}`
      : `payment ${result.paymentId}: no change`;
    return { status: 'processed', organizationId, environment, reason };
  }
  const isWrong = result.reason === 'mismatch' || result.reason === 'invalid_token';
  return {
    status: isWrong ? 'failed' : 'unattributed',
    organizationId,
    environment,
    reason: result.message,
  };
}
