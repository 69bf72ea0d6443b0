import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { type Origin, recordEventOnce } from '@parley/events';
import { roundAmount } from './amount';
import type { PaymentSource, PaymentsDeps } from './deps';
import type { FlowStatus } from './flow/flow-status';
import { type Payment, type PaymentStatus, findPayment, paymentType } from './payment';
import { closeOrder, isAnyOrdered, paymentIdOf } from './payment-orders';
import { type Change, transition } from './transition';

export interface ApplyInput {
  paymentId: string;
  status: FlowStatus;
  /** The token that Flow answered to, where it was asked by one. */
  flowToken?: string;
  source: PaymentSource;
  origin: Origin;
}

export type Applied =
  | { ok: true; status: PaymentStatus; changed: boolean }
  /** What Flow says cannot be about this payment, or comes too late for it: recorded, and nothing changes. */
  | { ok: false; reason: 'mismatch'; problem: string; status: PaymentStatus }
  | { ok: false; reason: 'not_found' };

/**
 * Brings a payment to what Flow says of it: the one way in which webhook, reconciliation and tools settle it. Order,
 * amount and currency are compared first (decisions.md, Webhooks); a payment leaves `pending` once.
 */
export async function applyStatus(deps: PaymentsDeps, scope: Scope, input: ApplyInput): Promise<Applied> {
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
    if (payment.status === 'draft') await adopt(deps, tx, scope, input);
    const moved = await transition(entities, tx, scope, paymentId, change, input.origin);
    if (moved.ok) return { ok: true, status: change.to, changed: true };
    if (moved.payment === null) return { ok: false, reason: 'not_found' };
    const { status, paidAt } = moved.payment;
    if (change.to !== 'paid' || status === 'paid') return { ok: true, status, changed: false };
    const known = paidAt === undefined ? `is ${status} already` : `was paid already, and is ${status} now`;
    return mismatch(tx, scope, moved.payment, `Flow says paid, and the payment ${known}`, input);
  });
  if (applied.ok && applied.changed && (applied.status === 'paid' || applied.status === 'failed')) {
    observe?.({ kind: 'settled', status: applied.status, source });
    log.info({ ...scope, paymentId, status: applied.status, source }, 'payment settled');
  }
  return applied;
}

const changeFor = ({ code, message }: FlowStatus): Extract<Change, { to: 'paid' | 'failed' }> | null => {
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

/** A crash came between Flow's order and our record of it: what Flow says now stands in for the record. */
async function adopt(
  { entities }: PaymentsDeps,
  tx: Queryable,
  scope: Scope,
  { paymentId, status, flowToken, origin }: ApplyInput,
): Promise<void> {
  const change: Change = { to: 'pending', providerReference: status.flowOrder, ...(flowToken && { flowToken }) };
  const moved = await transition(entities, tx, scope, paymentId, change, origin);
  if (moved.ok) await closeOrder(tx, scope, paymentId, { flowToken });
}

/**
 * Why this status is not about this payment; null when it is. Numbers of orders are those of one account, so a payment
 * or an order of ours goes by our name for it, too; what was brought along from elsewhere has only the number.
 */
function mismatchOf(
  { id, amount, currency, providerReference }: Payment,
  status: FlowStatus,
  isOurs: boolean,
): string | null {
  const isNamed = paymentIdOf(status.commerceOrder) === id || (!isOurs && providerReference !== undefined);
  const isNumbered = providerReference === undefined || providerReference === status.flowOrder;
  if (!isNamed || !isNumbered) {
    return `order ${status.flowOrder} (${status.commerceOrder}) is not ${providerReference ?? 'of this payment'}`;
  }
  // What is not paid is not compared: a rejected order is rejected whatever it was for.
  if (status.code !== 2) return null;
  if (currency !== status.currency) return `currency ${status.currency} is not ${currency}`;
  if (roundAmount(amount, currency) !== roundAmount(status.amount, currency)) {
    return `amount ${status.amount} is not ${amount}`;
  }
  return null;
}

/** Writes a mismatch down for people, the same one once. */
async function mismatch(
  tx: Queryable,
  scope: Scope,
  payment: Payment,
  problem: string,
  { status, source, origin }: ApplyInput,
): Promise<Applied> {
  const payload = { paymentId: payment.id, problem, source, flowStatus: { ...status } };
  const entity = { type: paymentType, id: payment.id };
  await recordEventOnce(tx, scope, { ...origin, type: 'payment.mismatch', entity, payload }, 'problem');
  return { ok: false, reason: 'mismatch', problem, status: payment.status };
}
