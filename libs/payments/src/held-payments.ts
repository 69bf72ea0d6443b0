import type { Scope } from '@parley/contracts';
import { type Queryable, column, heldUntil, heldWork, statement } from '@parley/db';
import { entityFieldSql } from '@parley/entities';

const status = entityFieldSql('status', {
  tenant: 'payment_orders.tenant',
  id: 'payment_orders.payment_id',
});

/**
 * Payments whose link was not created yet, and pending ones: if reconciliation found them paid
 * or failed, triggers that have run since the backup would run again. A callback of the provider
 * is applied meanwhile. The payments of a dropped hold would stay pending for ever, so they can
 * only be released.
 */
export const heldPayments = heldWork({
  kind: 'payments',
  table: 'payment_orders',
  isOpen: `closed_at is null or ${status} = 'pending'`,
  isHeld: `lease_until = ${heldUntil}`,
  hold: `lease_until = ${heldUntil}`,
  // An order may exist at the provider, so the next claim asks the provider first.
  release: 'lease_until = case when closed_at is null then now() end',
  drop: null,
});

const heldOf = statement(
  'held-payments',
  `select payment_id from payment_orders where tenant = $tenant and payment_id = any($paymentIds)
     and lease_until = ${heldUntil}`,
  { payment_id: column.text },
);

/** Finds which of the payments are held. */
export async function findHeld(
  db: Queryable,
  scope: Scope,
  paymentIds: readonly string[],
): Promise<Set<string>> {
  if (paymentIds.length === 0) return new Set();
  const { rows } = await db.query(scope, heldOf, { paymentIds });
  return new Set(rows.map(({ payment_id: paymentId }) => paymentId));
}
