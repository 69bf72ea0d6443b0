import { type JsonObject, integerAt, objectAt, textAt } from '@parley/contracts';
import { type Queryable, inTransaction, newId } from '@parley/db';
import type { Outcome } from '@parley/webhooks';
import type pg from 'pg';
import { findOwner } from './find-owner';

const provider = 'polar';

/**
 * Brings an organization's credits to what an order says: `order.paid` credits its subtotal once, `order.refunded` takes
 * back what of its cumulative refund has not been taken back yet. Both are facts about the order, so their order and
 * number do not matter: the ledger is the difference to what it holds for the order. `finish` writes the outcome in the
 * same transaction.
 */
export async function applyOrder(
  pool: pg.Pool,
  event: JsonObject,
  finish: (db: Queryable, outcome: Outcome) => Promise<void>,
): Promise<void> {
  const order = objectAt(event.data);
  const orderId = textAt(order.id);
  const isRefund = event.type === 'order.refunded';
  // The interface's shape has no refunded_amount: its refund is about the whole `amount`.
  const amount = integerAt(isRefund ? (order.refunded_amount ?? order.amount) : order.subtotal_amount);
  if (orderId === undefined || amount === undefined || amount < 0)
    return finish(pool, {
      status: 'failed',
      reason: `the order has no ${isRefund ? 'refunded_amount' : 'subtotal_amount'} in whole cents`,
    });
  await inTransaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`order:${provider}:${orderId}`]);
    const before = await findOrder(tx, orderId);
    const owner = before === null ? await findOwner(tx, order) : { ok: true as const, ...before };
    if (!owner.ok) return finish(tx, { status: 'unattributed', reason: owner.reason });
    const { organizationId } = owner;
    const paid = before?.credited ?? 0;
    const refunded = before?.refunded ?? 0;
    const column = isRefund ? 'refunded_cents' : 'credited_cents';
    // A payment is credited once; a refund only grows.
    const difference = isRefund ? Math.max(0, amount - refunded) : before?.isPaid ? 0 : amount;
    await tx.query(
      `insert into processed_payments as p (id, organization_id, provider, order_id, ${column}, paid_at, updated_at)
       values ($1, $2, $3, $4, $5, case when $6 then now() end, now())
       on conflict (provider, order_id) do update
         set ${column} = p.${column} + excluded.${column}, paid_at = coalesce(p.paid_at, excluded.paid_at),
             updated_at = now()`,
      [newId('pp'), organizationId, provider, orderId, difference, !isRefund],
    );
    if (difference > 0) {
      await tx.query(
        `insert into credit_entries (id, organization_id, amount_cents, reason, cause) values ($1, $2, $3, $4, $5)`,
        [
          newId('credit'),
          organizationId,
          isRefund ? -difference : difference,
          isRefund ? 'order refunded' : 'order paid',
          isRefund
            ? `${provider}-order-${orderId}-refunded-${refunded + difference}`
            : `${provider}-order-${orderId}-paid`,
        ],
      );
    }
    const isRepeated = difference === 0 && (isRefund || paid > 0);
    await finish(tx, {
      status: isRepeated ? 'ignored' : 'processed',
      organizationId,
      ...(isRepeated && { reason: 'applied before' }),
    });
  });
}

async function findOrder(
  tx: Queryable,
  orderId: string,
): Promise<{ organizationId: string; credited: number; refunded: number; isPaid: boolean } | null> {
  const { rows } = await tx.query<{ organizationId: string; credited: number; refunded: number; isPaid: boolean }>(
    `select organization_id as "organizationId", credited_cents as credited, refunded_cents as refunded,
            paid_at is not null as "isPaid"
     from processed_payments where provider = $1 and order_id = $2`,
    [provider, orderId],
  );
  return rows[0] ?? null;
}
