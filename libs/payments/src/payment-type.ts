import { type JsonObject, type Scope, paymentType } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { ensureType } from '@parley/entities';

/** The schema of the entity type `payment` (docs/reference/payments.md#payment-entity). */
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
 * Creates the entity type `payment` in an environment. An existing type, possibly with more
 * fields, is not changed. Called when the integration is configured and before each use, because
 * types can be deleted.
 */
export const ensurePaymentType = (db: Queryable, scope: Scope): Promise<void> =>
  ensureType(db, scope, {
    slug: paymentType,
    name: 'Payment',
    schema,
    searchFields: ['description', 'customerEmail', 'providerReference'],
  });
