import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import { type Origin, recordEvent } from '@parley/events';
import { type Payment, type PaymentStatus, findPayment, paymentType, toPayment } from './payment';

/** A step of the state machine, with what it writes. */
export type Change =
  | { to: 'pending'; providerReference: string; paymentLinkUrl?: string; flowToken?: string }
  | { to: 'paid'; paidAt: number }
  | { to: 'failed'; failureReason: string; providerReference?: string };

/** From where each state is reached (interface.md, Payment status). */
const predecessors: Record<Change['to'], PaymentStatus[]> = {
  pending: ['draft'],
  paid: ['pending'],
  failed: ['draft', 'pending'],
};

const eventOf = { pending: 'payment.link_created', paid: 'payment.paid', failed: 'payment.failed' } as const;

export type Moved =
  | { ok: true; payment: Payment }
  /** `payment`: as it is; null when it is deleted or gone. */
  | { ok: false; payment: Payment | null };

/**
 * Moves a payment to a state, with its event, inside of the caller's transaction. Of any number of callers one moves it:
 * the state it must come from is compared under the lock of its row.
 */
export async function transition(
  entities: Entities,
  tx: Queryable,
  scope: Scope,
  paymentId: string,
  { to, ...data }: Change,
  origin: Origin,
): Promise<Moved> {
  const result = await entities.updateIf(
    scope,
    {
      ...origin,
      type: paymentType,
      id: paymentId,
      data: { ...withoutAbsent(data), status: to },
      // Paid is paid for good, also when a person has set the status back: money comes once.
      onlyIf: { 'data.status': { $in: predecessors[to] }, ...(to === 'paid' && { 'data.paidAt': { $eq: null } }) },
    },
    tx,
  );
  if (result.ok) {
    const payment = toPayment(result.entity.value);
    await writeEvent(tx, scope, eventOf[to], payment, origin);
    return { ok: true, payment };
  }
  switch (result.reason) {
    case 'condition_failed':
      return { ok: false, payment: await findPayment(entities, scope, paymentId, tx) };
    case 'not_found':
    case 'type_not_found':
    case 'deleted':
      return { ok: false, payment: null };
    default:
      throw new Error(`Payment ${paymentId} cannot be changed: ${JSON.stringify(result)}`);
  }
}

/** Tells of a payment, in the transaction that changes it. */
export async function writeEvent(
  tx: Queryable,
  scope: Scope,
  type: 'payment.created' | (typeof eventOf)[Change['to']],
  { id, amount, currency, status, providerReference, paidAt, failureReason }: Payment,
  origin: Origin,
): Promise<void> {
  const payload = { paymentId: id, amount, currency, status, providerReference, paidAt, failureReason };
  await recordEvent(tx, scope, { ...origin, type, entity: { type: paymentType, id }, payload: withoutAbsent(payload) });
}

const withoutAbsent = (data: Record<string, string | number | undefined>): JsonObject =>
  Object.fromEntries(
    Object.entries(data).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
