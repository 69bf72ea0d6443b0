import { type Queryable, newId, purgeRows } from '@parley/db';

const provider = 'polar';

/** What the purge of an organization deletes. */
export const creditsPurge = purgeRows('processed_payments', 'credit_entries');

/** What has been credited and taken back for an order so far, in cents. */
export interface CreditedOrder {
  organizationId: string;
  creditedCents: number;
  refundedCents: number;
  isPaid: boolean;
}

/** An order of the billing platform, locked until the transaction ends; null when nothing has been written for it. */
export async function lockOrder(tx: Queryable, orderId: string): Promise<CreditedOrder | null> {
  await tx.raw('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`order:${provider}:${orderId}`]);
  const { rows } = await tx.raw<CreditedOrder>(
    `select organization_id as "organizationId", credited_cents as "creditedCents", refunded_cents as "refundedCents",
            paid_at is not null as "isPaid"
     from processed_payments where provider = $1 and order_id = $2`,
    [provider, orderId],
  );
  return rows[0] ?? null;
}

/**
 * Brings the credits of an organization to what a locked order says: a payment is credited once, a cumulative refund takes
 * back what has not been taken back yet. Returns the change of the balance in cents; 0 when it was applied before.
 */
export async function applyOrder(
  tx: Queryable,
  before: CreditedOrder | null,
  order: { organizationId: string; orderId: string; kind: 'paid' | 'refunded'; amountCents: number },
): Promise<number> {
  const { organizationId, orderId, kind, amountCents } = order;
  const isRefund = kind === 'refunded';
  const refundedCents = before?.refundedCents ?? 0;
  const column = isRefund ? 'refunded_cents' : 'credited_cents';
  const difference = isRefund ? Math.max(0, amountCents - refundedCents) : before?.isPaid ? 0 : amountCents;
  await tx.raw(
    `insert into processed_payments as p (id, organization_id, provider, order_id, ${column}, paid_at, updated_at)
     values ($1, $2, $3, $4, $5, case when $6 then now() end, now())
     on conflict (provider, order_id) do update
       set ${column} = p.${column} + excluded.${column}, paid_at = coalesce(p.paid_at, excluded.paid_at),
           updated_at = now()`,
    [newId('pp'), organizationId, provider, orderId, difference, !isRefund],
  );
  if (difference === 0) return 0;
  const change = isRefund ? -difference : difference;
  const cause = `${provider}-order-${orderId}-${isRefund ? `refunded-${refundedCents + difference}` : 'paid'}`;
  await tx.raw(
    'insert into credit_entries (id, organization_id, amount_cents, reason, cause) values ($1, $2, $3, $4, $5)',
    [newId('credit'), organizationId, change, `order ${kind}`, cause],
  );
  return change;
}
