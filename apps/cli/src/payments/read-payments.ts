import type { Entity, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { queryEntities } from '@parley/entities';
import { readEvents } from '@parley/events';
import { paymentType } from '@parley/payments';
import { Failure, usageFailure } from '../failure';

/** Payments of an environment, newest first; `next` is where the next page begins. */
export async function listPayments(
  db: Queryable,
  scope: Scope,
  { status, limit, cursor }: { status?: string; limit: number; cursor?: string },
): Promise<{ payments: Entity[]; next: string | null }> {
  const filters: JsonObject = status === undefined ? {} : { 'data.status': status };
  const result = await queryEntities(db, scope, { type: paymentType, filters, limit, ...(cursor && { cursor }) });
  if (result.ok) {
    return { payments: result.page.entities, next: result.page.hasMore ? result.page.cursor : null };
  }
  if (result.reason === 'invalid') throw usageFailure(`--before wants what a list has ended with, not "${cursor}"`);
  // Without the type nothing was ever paid here.
  return { payments: [], next: null };
}

export interface PaymentEvent {
  type: string;
  at: Date;
  actor: { type: string };
  /** Of a mismatch. */
  problem: string | null;
}

export interface PaymentHistory {
  payment: Entity;
  /** Orders asked for at the provider; null for a payment that was brought along from elsewhere. */
  attempts: number | null;
  /** Ids of what is paid for. */
  paidFor: string[];
  events: PaymentEvent[];
}

/** More than any payment has; the newest are shown. */
const shownEvents = 200;

/** A payment with its events. */
export async function findPaymentHistory(
  db: Queryable,
  scope: Scope & { name: string },
  id: string,
): Promise<PaymentHistory> {
  const found = await queryEntities(db, scope, { type: paymentType, filters: { id }, limit: 1 });
  const [payment] = found.ok ? found.page.entities : [];
  if (payment === undefined) throw new Failure(`No payment ${id} in ${scope.name}`);
  const [order, relations, events] = await Promise.all([
    db.query<{ attempt: number }>('select attempt from payment_orders where payment_id = $1', [id]),
    db.query<{ to_id: string }>(
      `select to_id from entity_relations where organization_id = $1 and environment = $2::"Environment"
         and from_id = $3 and relation = 'payment_for' order by to_id`,
      [scope.organizationId, scope.environment, id],
    ),
    readEvents(db, scope, { type: 'payment.*', entityId: id }, shownEvents),
  ]);
  return {
    payment,
    attempts: order.rows[0]?.attempt ?? null,
    paidFor: relations.rows.map(({ to_id: entityId }) => entityId),
    events: events.reverse().map(({ type, createdAt, actor, payload }) => ({
      type,
      at: new Date(createdAt),
      actor,
      problem: typeof payload.problem === 'string' ? payload.problem : null,
    })),
  };
}
