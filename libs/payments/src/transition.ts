import { type JsonObject, type Scope, paymentType } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import { type Origin, recordEvent } from '@parley/events';
import { type Payment, type PaymentStatus, findPayment, toPayment } from './payment';

/** A transition of the state machine, with the fields that it writes. */
export type Change =
  | { to: 'pending'; providerReference: string; paymentLinkUrl?: string; flowToken?: string }
  | { to: 'paid'; paidAt: number }
  | { to: 'failed'; failureReason: string; providerReference?: string };

/** The states from which each state is reached (docs/reference/payments.md#payment-status). */
const predecessors: Record<Change['to'], PaymentStatus[]> = {
  pending: ['draft'],
  paid: ['pending'],
  failed: ['draft', 'pending'],
};

const eventOf = {
  pending: 'payment.link_created',
  paid: 'payment.paid',
  failed: 'payment.failed',
} as const;

export type Moved =
  | { ok: true; payment: Payment }
  /** `payment`: its current state; null when it is deleted or missing. */
  | { ok: false; payment: Payment | null };

/**
 * Moves a payment to a state and records the event, in the caller's transaction. Of concurrent
 * callers one succeeds: the previous state is compared under the lock of the row.
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
      anySize: true,
      // A payment is paid once, even if a user has set its status back to pending.
      onlyIf: {
        'data.status': { $in: predecessors[to] },
        ...(to === 'paid' && { 'data.paidAt': { $eq: null } }),
      },
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

/** Records an event of a payment, in the transaction that changes it. */
export async function writeEvent(
  tx: Queryable,
  scope: Scope,
  type: 'payment.created' | (typeof eventOf)[Change['to']],
  { id, amount, currency, status, providerReference, paidAt, failureReason }: Payment,
  origin: Origin,
): Promise<void> {
  const payload = {
    paymentId: id,
    amount,
    currency,
    status,
    providerReference,
    paidAt,
    failureReason,
  };
  await recordEvent(tx, scope, {
    ...origin,
    type,
    entity: { type: paymentType, id },
    payload: withoutAbsent(payload),
  });
}

const withoutAbsent = (data: Record<string, string | number | undefined>): JsonObject =>
  Object.fromEntries(
    Object.entries(data).filter(
      (entry): entry is [string, string | number] => entry[1] !== undefined,
    ),
  );
