import { type Entity, type JsonObject, type Scope, paymentType } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { queryEntities, targetIds } from '@parley/entities';
import { readEvents } from '@parley/events';

/**
 * Lists payments of an environment, newest first. `next` is the cursor of the next page. Null when
 * `cursor` is invalid.
 */
export async function listPayments(
  db: Queryable,
  scope: Scope,
  { status, limit, cursor }: { status?: string; limit: number; cursor?: string },
): Promise<{ payments: Entity[]; next: string | null } | null> {
  const filters: JsonObject = status === undefined ? {} : { 'data.status': status };
  const result = await queryEntities(db, scope, {
    type: paymentType,
    filters,
    limit,
    ...(cursor && { cursor }),
  });
  if (result.ok) {
    return {
      payments: result.page.entities,
      next: result.page.hasMore ? result.page.cursor : null,
    };
  }
  // Without the entity type there are no payments.
  return result.reason === 'invalid' ? null : { payments: [], next: null };
}

interface PaymentEvent {
  type: string;
  at: Date;
  actor: { type: string };
  /** The difference, for a mismatch. */
  problem: string | null;
}

interface PaymentHistory {
  payment: Entity;
  /** Number of orders requested from Flow; null for an imported payment. */
  attempts: number | null;
  /** Ids of the entities that are paid for. */
  paidFor: string[];
  events: PaymentEvent[];
}

/** More than the number of events of any payment. */
const maxEvents = 200;

const attemptsOf = statement(
  'payment-attempts',
  'select attempt from payment_orders where tenant = $tenant and payment_id = $id',
  { attempt: column.int4 },
);

/** Finds a payment with its events, oldest first; null when it does not exist. */
export async function findPaymentHistory(
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<PaymentHistory | null> {
  const found = await queryEntities(db, scope, { type: paymentType, filters: { id }, limit: 1 });
  const [payment] = found.ok ? found.page.entities : [];
  if (payment === undefined) return null;
  const [order, paidFor, { events }] = await Promise.all([
    db.query(scope, attemptsOf, { id }),
    targetIds(db, scope, { fromId: id, relation: 'payment_for' }),
    readEvents(db, scope, { type: 'payment.*', entityId: id }, maxEvents),
  ]);
  return {
    payment,
    attempts: order.rows[0]?.attempt ?? null,
    paidFor,
    events: events.reverse().map(({ type, createdAt, actor, payload }) => ({
      type,
      at: new Date(createdAt),
      actor,
      problem: typeof payload.problem === 'string' ? payload.problem : null,
    })),
  };
}
