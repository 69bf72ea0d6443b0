import { type Scope, paymentType } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { type Origin, recordEventOnce } from '@parley/events';
import { roundAmount } from './amount';
import type { PaymentSource, PaymentsDeps } from './deps';
import type { FlowStatus } from './flow/flow-status';
import { type Payment, type PaymentStatus, findPayment } from './payment';
import { closeOrder, isAnyOrdered, paymentIdOf } from './payment-orders';
import { type Change, transition } from './transition';

export interface ApplyInput {
  paymentId: string;
  status: FlowStatus;
  /** The token of the order, if the status was requested by token. */
  flowToken?: string;
  source: PaymentSource;
  origin: Origin;
}

export type Applied =
  | { ok: true; status: PaymentStatus; changed: boolean }
  /**
   * The status does not match the payment, or arrives too late: it is recorded as an event, and
   * nothing changes.
   */
  | { ok: false; reason: 'mismatch'; problem: string; status: PaymentStatus }
  | { ok: false; reason: 'not_found' };

/**
 * Applies a status of Flow to a payment, for webhook, reconciliation and tools. Order, amount
 * and currency are compared first (docs/reference/payments.md#payment-status). A payment
 * leaves `pending` once.
 */
export async function applyPaymentStatus(
  deps: PaymentsDeps,
  scope: Scope,
  input: ApplyInput,
): Promise<Applied> {
  const { entities, observe, log } = deps;
  const { paymentId, source } = input;
  const applied = await deps.db.transaction(async (tx): Promise<Applied> => {
    const payment = await findPayment(entities, scope, paymentId, tx);
    if (payment === null) return { ok: false, reason: 'not_found' };
    const isOurs = await isAnyOrdered(tx, [paymentId, paymentIdOf(input.status.commerceOrder)]);
    const problem = mismatchOf(payment, input.status, isOurs);
    if (problem !== null) return mismatch(tx, scope, payment, problem, input);
    const change = changeFor(input.status);
    if (change === null) return { ok: true, status: payment.status, changed: false };
    if (payment.status === 'draft') await storeOrder(deps, tx, scope, input);
    const moved = await transition(entities, tx, scope, paymentId, change, input.origin);
    if (moved.ok) return { ok: true, status: change.to, changed: true };
    if (moved.payment === null) return { ok: false, reason: 'not_found' };
    const { status, paidAt } = moved.payment;
    if (change.to !== 'paid' || status === 'paid') return { ok: true, status, changed: false };
    const state =
      paidAt === undefined ? `is already ${status}` : `was paid before and is ${status} now`;
    return mismatch(
      tx,
      scope,
      moved.payment,
      `Flow reports the order as paid, but the payment ${state}`,
      input,
    );
  });
  if (applied.ok && applied.changed && (applied.status === 'paid' || applied.status === 'failed')) {
    observe?.({ kind: 'settled', status: applied.status, source });
    log.info({ ...scope, paymentId, status: applied.status, source }, 'payment settled');
  }
  return applied;
}

const changeFor = ({
  code,
  message,
}: FlowStatus): Extract<Change, { to: 'paid' | 'failed' }> | null => {
  switch (code) {
    case 1:
      return null;
    case 2:
      return { to: 'paid', paidAt: Date.now() };
    case 3:
    case 4:
      return { to: 'failed', failureReason: message };
  }
};

/**
 * Stores the order of a draft from its status, after a crash between its creation at Flow
 * and its storage.
 */
async function storeOrder(
  { entities }: PaymentsDeps,
  tx: Queryable,
  scope: Scope,
  { paymentId, status, flowToken, origin }: ApplyInput,
): Promise<void> {
  const change: Change = {
    to: 'pending',
    providerReference: status.flowOrder,
    ...(flowToken && { flowToken }),
  };
  const moved = await transition(entities, tx, scope, paymentId, change, origin);
  if (moved.ok) await closeOrder(tx, scope, paymentId, { flowToken });
}

/**
 * Why a status does not match a payment; null when it does. Flow's order numbers are unique within
 * one account only, so the commerce order must match too, except for an imported payment, which has
 * only the number.
 */
function mismatchOf(
  { id, amount, currency, providerReference }: Payment,
  status: FlowStatus,
  isOurs: boolean,
): string | null {
  const isNamed =
    paymentIdOf(status.commerceOrder) === id || (!isOurs && providerReference !== undefined);
  const isNumbered = providerReference === undefined || providerReference === status.flowOrder;
  if (!isNamed || !isNumbered) {
    return `order ${status.flowOrder} (${status.commerceOrder}) is not ${providerReference ?? 'of this payment'}`;
  }
  // Amount and currency matter only for a paid order.
  if (status.code !== 2) return null;
  if (currency !== status.currency) return `currency ${status.currency} is not ${currency}`;
  if (roundAmount(amount, currency) !== roundAmount(status.amount, currency)) {
    return `amount ${status.amount} is not ${amount}`;
  }
  return null;
}

/** Records a mismatch as an event, once per problem. */
async function mismatch(
  tx: Queryable,
  scope: Scope,
  payment: Payment,
  problem: string,
  { status, source, origin }: ApplyInput,
): Promise<Applied> {
  const payload = { paymentId: payment.id, problem, source, flowStatus: { ...status } };
  const entity = { type: paymentType, id: payment.id };
  await recordEventOnce(
    tx,
    scope,
    { ...origin, type: 'payment.mismatch', entity, payload },
    'problem',
  );
  return { ok: false, reason: 'mismatch', problem, status: payment.status };
}
