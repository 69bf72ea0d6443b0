import type { Db } from '@parley/db';
import { finishDelivery, readJsonObject } from '@parley/webhooks';
import { applyBillingEvent } from '../billing/apply-billing-event';
import { createDeliveryJob } from './create-delivery-job';

/** Processes a delivery of the billing platform: an order that was paid or refunded. */
export const createApplyBilling = (deps: { db: Db }) =>
  createDeliveryJob(deps, async ({ id, body }) => {
    await applyBillingEvent(deps.db, readJsonObject(body) ?? {}, (db, outcome) => finishDelivery(db, id, outcome));
    return 'finished';
  });
