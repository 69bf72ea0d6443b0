import type { Db } from '@parley/db';
import type { Confirmed, Payments } from '@parley/payments';
import type { JobContext, JobPayload } from '@parley/redis';
import { type Outcome, readFormField } from '@parley/webhooks';
import { createDeliveryJob } from './create-delivery-job';

/** Processes a callback of the payment provider. If PostgreSQL was down when it arrived, the job holds only its token. */
export function createConfirmPayment(deps: { db: Db; payments: Payments }) {
  const confirm = async (token: string): Promise<Confirmed> => {
    const result = await deps.payments.confirmByToken(token);
    // The job is retried. After its last attempt, reconciliation asks for the status.
    if (!result.ok && result.reason === 'try_again') throw new Error(result.message);
    return result;
  };
  const confirmStored = createDeliveryJob(deps, async ({ body }) =>
    outcomeOf(await confirm(readFormField(body, 'token') ?? '')),
  );
  return async (payload: JobPayload<'confirm-payment'>, context: JobContext): Promise<void> => {
    if ('token' in payload) await confirm(payload.token);
    else await confirmStored(payload, context);
  };
}

function outcomeOf(result: Confirmed): Outcome {
  const organizationId = result.scope?.organizationId;
  if (result.ok) {
    const reason = result.changed
      ? `payment ${result.paymentId} is ${result.status}`
      : `payment ${result.paymentId}: no change`;
    return { status: 'processed', organizationId, reason };
  }
  const isOwned = result.reason !== 'unknown_token' && result.reason !== 'no_payment';
  return { status: isOwned ? 'failed' : 'unattributed', organizationId, reason: result.message };
}
