import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { ensureType } from '@parley/entities';
import { paymentType } from './payment';

/** interface.md, Payment entity. */
const schema: JsonObject = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    currency: { type: 'string' },
    description: { type: 'string' },
    status: { type: 'string', enum: ['draft', 'pending', 'paid', 'failed'] },
    providerReference: { type: 'string' },
    paymentLinkUrl: { type: 'string' },
    flowToken: { type: 'string' },
    customerEmail: { type: 'string' },
    paidAt: { type: 'number' },
    failureReason: { type: 'string' },
  },
  required: ['amount', 'currency', 'status'],
};

/**
 * Makes the entity type `payment` in an environment; one that is there, perhaps with fields of its own, is left as it
 * is. Called when the integration is configured, and again wherever it is used, as a type can be deleted.
 */
export const ensurePaymentType = (db: Queryable, scope: Scope): Promise<void> =>
  ensureType(db, scope, {
    slug: paymentType,
    name: 'Payment',
    schema,
    searchFields: ['description', 'customerEmail', 'providerReference'],
  });
