import { type Queryable, type RowOf, type Tenant, column, lockKey, newId, purgeRows, statement } from '@parley/db';

const provider = 'polar';

/** The rows that the purge of an organization deletes. */
export const creditsPurge = purgeRows(['processed_payments', 'credit_entries']);

/** Amounts credited and deducted for an order so far. */
const creditedRow = {
  organizationId: column.text,
  tenant: column.int4,
  creditedCents: column.int4,
  refundedCents: column.int4,
  isPaid: column.bool,
};
type CreditedOrder = RowOf<typeof creditedRow>;

const creditedOrder = statement(
  'credited-order',
  `select organization_id(tenant) as "organizationId", tenant, credited_cents as "creditedCents",
          refunded_cents as "refundedCents", paid_at is not null as "isPaid"
   from processed_payments where provider = $1 and order_id = $2`,
  creditedRow,
);

/** Locks an order of the billing platform until the transaction ends, and reads it; null when nothing is stored for it. */
export async function lockOrder(tx: Queryable, orderId: string): Promise<CreditedOrder | null> {
  await tx.acrossTenants('inbound webhook', lockKey, [`order:${provider}:${orderId}`]);
  const { rows } = await tx.acrossTenants('inbound webhook', creditedOrder, [provider, orderId]);
  return rows[0] ?? null;
}

const addCentsSql = (cents: 'credited_cents' | 'refunded_cents'): string =>
  `insert into processed_payments as p (id, tenant, provider, order_id, ${cents}, paid_at, updated_at)
   values ($1, $2, $3, $4, $5, case when $6 then now() end, now())
   on conflict (provider, order_id) do update
     set ${cents} = p.${cents} + excluded.${cents}, paid_at = coalesce(p.paid_at, excluded.paid_at),
         updated_at = excluded.updated_at`;
const addCredited = statement('add-credited-cents', addCentsSql('credited_cents'));
const addRefunded = statement('add-refunded-cents', addCentsSql('refunded_cents'));

const insertEntry = statement(
  'insert-credit-entry',
  'insert into credit_entries (id, tenant, amount_cents, reason, cause) values ($1, $2, $3, $4, $5)',
);

/**
 * Applies a locked order to the credits of an organization. A payment is credited once. The amount of a refund is cumulative:
 * only the part that was not deducted before is deducted. Returns the change of the balance in cents, 0 for a repetition.
 */
export async function applyOrder(
  tx: Queryable,
  applied: CreditedOrder | null,
  order: Tenant & { orderId: string; kind: 'paid' | 'refunded'; amountCents: number },
): Promise<number> {
  const { tenant, orderId, kind, amountCents } = order;
  const isRefund = kind === 'refunded';
  const refundedCents = applied?.refundedCents ?? 0;
  const difference = isRefund ? Math.max(0, amountCents - refundedCents) : applied?.isPaid ? 0 : amountCents;
  const values = [newId('pp'), tenant, provider, orderId, difference, !isRefund];
  await tx.query(order, isRefund ? addRefunded : addCredited, values);
  if (difference === 0) return 0;
  const change = isRefund ? -difference : difference;
  const cause = `${provider}-order-${orderId}-${isRefund ? `refunded-${refundedCents + difference}` : 'paid'}`;
  await tx.query(order, insertEntry, [newId('credit'), tenant, change, `order ${kind}`, cause]);
  return change;
}
