import { batchCalls } from '@parley/db';
import { type Delivery, finishDeliveries, readJsonObject } from '@parley/webhooks';
import { applyBillingEvents } from '../billing/apply-billing-events';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/** Maximum number of orders that one transaction applies. It holds their locks until it commits. */
const largestBatch = 50;

/**
 * Processes deliveries of the billing platform: orders that were paid or refunded. Under load one
 * transaction applies many.
 */
export function createApplyBilling(deps: DeliveryJobDeps) {
  const apply = batchCalls(
    async (deliveries: readonly Delivery[]) => {
      const events = deliveries.map(({ body }) => readJsonObject(body) ?? {});
      await applyBillingEvents(deps.db, events, (db, outcomes) =>
        finishDeliveries(
          db,
          outcomes.map((outcome, at) => ({ id: deliveries[at]!.id, outcome })),
        ),
      );
      return deliveries.map(() => 'finished' as const);
    },
    { largest: largestBatch },
  );
  return createDeliveryJob(deps, 'apply-billing', 2 * largestBatch, apply);
}
