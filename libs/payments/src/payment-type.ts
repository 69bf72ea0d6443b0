import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId } from '@parley/db';
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
export async function ensurePaymentType(db: Queryable, scope: Scope): Promise<void> {
  await db.query({
    name: 'ensure-payment-type',
    text: `insert into entity_types (id, organization_id, environment, slug, name, schema, search_fields, indexed_fields, updated_at)
           select $1, $2, $3::"Environment", $4, 'Payment', $5::json, $6, $6, now()
           where not exists (select from entity_types where organization_id = $2 and environment = $3::"Environment" and slug = $4)
           on conflict (organization_id, environment, slug) do nothing`,
    values: [
      newId('type'),
      scope.organizationId,
      scope.environment,
      paymentType,
      JSON.stringify(schema),
      ['description', 'customerEmail', 'providerReference'],
    ],
  });
}
