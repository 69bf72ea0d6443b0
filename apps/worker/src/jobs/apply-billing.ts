import type { Db } from '@parley/db';
import { finishDelivery, readJsonObject } from '@parley/webhooks';
import { applyBillingEvent } from '../billing/apply-billing-event';
import { onDelivery } from '../deliveries/on-delivery';

/** A delivery of the billing platform: an order that was paid or refunded. */
export const createApplyBilling = (deps: { db: Db }) =>
  onDelivery(deps, async ({ id, body }) => {
    await applyBillingEvent(deps.db, readJsonObject(body) ?? {}, (db, outcome) => finishDelivery(db, id, outcome));
    return 'finished';
  });
