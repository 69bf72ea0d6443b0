import {
  type Queryable,
  type RowOf,
  type Tenant,
  column,
  newId,
  purgeRows,
  statement,
} from '@parley/db';

const provider = 'polar';

/** The rows that the purge of an organization deletes. */
export const creditsPurge = purgeRows(['processed_payments', 'credit_entries']);

/** Amounts credited and deducted for an order so far. */
const creditedRow = {
  orderId: column.text,
  organizationId: column.text,
  tenant: column.int4,
  creditedCents: column.int4,
  refundedCents: column.int4,
  isPaid: column.bool,
};
export type CreditedOrder = RowOf<typeof creditedRow>;

const lockKeys = statement(
  'lock-orders',
  `select from unnest($ids::text[]) key, pg_advisory_xact_lock(hashtextextended(key, 0))`,
);

const creditedOrders = statement(
  'credited-orders',
  `select order_id as "orderId", organization_id(tenant) as "organizationId", tenant, credited_cents as "creditedCents",
          refunded_cents as "refundedCents", paid_at is not null as "isPaid"
   from processed_payments where provider = $provider and order_id = any($ids)`,
  creditedRow,
);

/**
 * Locks orders of the billing platform until the transaction ends, and reads them. One for which
 * nothing is stored is absent.
 */
export async function lockOrders(
  tx: Queryable,
  orderIds: readonly string[],
): Promise<Map<string, CreditedOrder>> {
  // Sorted: two transactions that lock the same orders in different sequences could deadlock.
  const ids = [...new Set(orderIds)].sort();
  await tx.acrossTenants('inbound webhook', lockKeys, {
    ids: ids.map((id) => `order:${provider}:${id}`),
  });
  const { rows } = await tx.acrossTenants('inbound webhook', creditedOrders, { provider, ids });
  return new Map(rows.map((row) => [row.orderId, row]));
}

const apply = statement(
  'apply-orders',
  `with given as materialized (select *
     from json_to_recordset($given::json) g(id text, "orderId" text, credited int, refunded int,
     "isPaid" boolean, "entryId" text, reason text, cause text)),
   orders as (
     insert into processed_payments as p (id, tenant, provider, order_id, credited_cents, refunded_cents, paid_at, updated_at)
     select id, $tenant::int, $provider, "orderId", credited, refunded, case when "isPaid" then now() end, now()
       from given
     on conflict (provider, order_id) do update
       set credited_cents = p.credited_cents + excluded.credited_cents,
           refunded_cents = p.refunded_cents + excluded.refunded_cents,
           paid_at = coalesce(p.paid_at, excluded.paid_at), updated_at = excluded.updated_at)
   insert into credit_entries (id, tenant, amount_cents, reason, cause)
   select "entryId", $tenant, credited - refunded, reason, cause from given where credited <> refunded`,
);

/** A total that the billing platform states for a locked order. */
export interface OrderTotal {
  orderId: string;
  kind: 'paid' | 'refunded';
  amountCents: number;
  /** What is stored for the order. */
  applied: CreditedOrder | undefined;
}

/**
 * Applies locked orders, each at most once, to the credits of an organization. A payment is
 * credited once. The amount of a refund is cumulative: only the part that was not deducted before
 * is deducted. Returns the changes of the balance in cents, 0 for a repetition.
 */
export async function applyOrders(
  tx: Queryable,
  owner: Tenant,
  orders: readonly OrderTotal[],
): Promise<number[]> {
  const given = orders.map(({ orderId, kind, amountCents, applied }) => {
    const isRefund = kind === 'refunded';
    const refundedCents = applied?.refundedCents ?? 0;
    const refunded = isRefund ? Math.max(0, amountCents - refundedCents) : 0;
    const credited = isRefund || applied?.isPaid ? 0 : amountCents;
    const cause = `${provider}-order-${orderId}-${isRefund ? `refunded-${refundedCents + refunded}` : 'paid'}`;
    const ids = { id: newId('pp'), entryId: newId('credit') };
    return {
      ...ids,
      orderId,
      credited,
      refunded,
      isPaid: !isRefund,
      reason: `order ${kind}`,
      cause,
    };
  });
  await tx.query(owner, apply, { provider, given: JSON.stringify(given) });
  return given.map(({ credited, refunded }) => credited - refunded);
}
