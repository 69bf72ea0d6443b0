import { type JsonObject, integerAt, objectAt, textAt } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { findOwner } from '@parley/identity';
import { applyOrder, lockOrder } from '@parley/payments';
import { type Outcome, unknownOwner } from '@parley/webhooks';

/**
 * Applies `order.paid` or `order.refunded` of the billing platform to the credits of the order's organization. Both events
 * state a total of the order, so deliveries may arrive repeatedly and in any sequence. `finish` stores the outcome of the
 * delivery in the same transaction.
 */
export async function applyBillingEvent(
  db: Db,
  event: JsonObject,
  finish: (db: Queryable, outcome: Outcome) => Promise<void>,
): Promise<void> {
  const order = objectAt(event.data);
  const orderId = textAt(order.id);
  const isRefund = event.type === 'order.refunded';
  // Without refunded_amount the refund is of the whole `amount` (docs/reference/webhooks.md#billing).
  const amountCents = integerAt(isRefund ? (order.refunded_amount ?? order.amount) : order.subtotal_amount);
  if (orderId === undefined || amountCents === undefined || amountCents < 0)
    return finish(db, {
      status: 'failed',
      reason: `the order has no ${isRefund ? 'refunded_amount' : 'subtotal_amount'} in whole cents`,
    });
  await db.transaction(async (tx) => {
    const before = await lockOrder(tx, orderId);
    const owner = before ?? (await ownerOf(tx, order));
    if ('problem' in owner) return finish(tx, { status: 'unattributed', reason: owner.problem });
    const { organizationId, tenant } = owner;
    const kind = isRefund ? 'refunded' : 'paid';
    const change = await applyOrder(tx, before, { tenant, orderId, kind, amountCents });
    const isRepeated = change === 0 && (isRefund || (before?.creditedCents ?? 0) > 0);
    await finish(tx, {
      status: isRepeated ? 'ignored' : 'processed',
      organizationId,
      ...(isRepeated && { reason: 'applied before' }),
    });
  });
}

/**
 * Finds the organization of an order by `metadata.organizationId`, the customer's external id or
 * `customer.metadata.userId`, each in camel case or snake case (docs/reference/webhooks.md#billing). Only the first field
 * that is present is used: when it names no organization, crediting another one would be a guess.
 */
async function ownerOf(
  db: Queryable,
  order: JsonObject,
): Promise<{ organizationId: string; tenant: number } | { problem: string }> {
  const metadata = objectAt(order.metadata);
  const customer = objectAt(order.customer);
  const name =
    textAt(metadata.organizationId) ??
    textAt(metadata.organization_id) ??
    textAt(customer.external_id) ??
    textAt(customer.externalId) ??
    textAt(objectAt(customer.metadata).userId) ??
    textAt(objectAt(customer.metadata).user_id);
  if (name === undefined) return { problem: 'the order names no organization and no user' };
  const owner = await findOwner(db, name);
  if (owner.ok) return owner;
  return { problem: owner.reason === 'several' ? `${name} matches several organizations` : `${unknownOwner}${name}` };
}
