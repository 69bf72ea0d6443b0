import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, currencySchema, paymentType } from '@parley/contracts';
import type { Origin } from '@parley/events';
import { z } from 'zod';
import { roundAmount } from './amount';
import { applyPaymentStatus } from './apply-payment-status';
import type { PaymentsDeps } from './deps';
import { type FlowAccount, findFlowAccount } from './flow/flow-account';
import {
  type FlowClient,
  type FlowFailure,
  type FlowOrder,
  createFlowClient,
} from './flow/flow-client';
import { type Payment, findPayment, toPayment } from './payment';
import {
  claimOrder,
  closeOrder,
  commerceOrderOf,
  findByCall,
  insertOrder,
  nextAttempt,
  releaseOrder,
} from './payment-orders';
import { ensurePaymentType } from './payment-type';
import { transition, writeEvent } from './transition';

export interface CreatePaymentInput extends Origin {
  amount: number;
  description: string;
  /** Default: the currency of the integration. */
  currency?: string;
  customerEmail: string;
  /** Linked from the payment by `payment_for`. */
  entityId?: string;
  /**
   * Idempotency key of the tool call: a repeated call returns the same payment. Null: each call
   * creates a payment.
   */
  callKey: string | null;
  signal?: AbortSignal;
}

export type CreatePaymentResult =
  | { ok: true; paymentId: string; paymentLinkUrl: string; flowOrderId: string }
  | { ok: false; reason: 'not_configured' | 'entity_not_found' | 'invalid'; message: string }
  /**
   * There is no link: the payment is `failed` and has the reason, or another process is still
   * creating the link.
   */
  | { ok: false; reason: 'no_link'; message: string; paymentId: string };

const largestAmount = 1e12;

/** Maximum wait of a call for another process that creates the same payment. */
const waitForOtherMs = 20_000;

/**
 * Creates a payment and its link at Flow (docs/reference/payments.md#creating-a-payment). The
 * payment is stored as `draft` before Flow is called, and the link is stored before it is returned.
 * Recovery from crashes is described in docs/adr/0024.
 */
export async function createPayment(
  deps: PaymentsDeps,
  scope: Scope,
  input: CreatePaymentInput,
): Promise<CreatePaymentResult> {
  const found = await findFlowAccount(deps, scope, { activeOnly: true });
  if (!found.ok) return { ok: false, reason: 'not_configured', message: found.message };
  const { account } = found;
  const checked = check(input, account);
  if (!checked.ok) return { ok: false, reason: 'invalid', message: checked.message };
  const drafted = await draft(deps, scope, { ...input, ...checked.money });
  if (!drafted.ok) return drafted;
  await deps.onStep?.('drafted', drafted.paymentId);
  return ensureLink(deps, scope, account, { ...input, paymentId: drafted.paymentId });
}

function check(
  { amount, currency, customerEmail }: CreatePaymentInput,
  { defaultCurrency }: FlowAccount,
): { ok: true; money: { amount: number; currency: string } } | { ok: false; message: string } {
  const parsed = currencySchema.safeParse(currency ?? defaultCurrency);
  if (!parsed.success) return { ok: false, message: `currency ${parsed.error.issues[0]!.message}` };
  if (!(amount > 0)) return { ok: false, message: 'amount must be a number above 0' };
  if (amount > largestAmount)
    return { ok: false, message: `amount is too large: at most ${largestAmount}` };
  const rounded = roundAmount(amount, parsed.data);
  if (rounded === 0)
    return {
      ok: false,
      message: `amount ${amount} is too small: in ${parsed.data} it rounds to 0`,
    };
  if (!z.email().safeParse(customerEmail).success)
    return { ok: false, message: 'customerEmail must be an e-mail address' };
  return { ok: true, money: { amount: rounded, currency: parsed.data } };
}

/** Thrown to roll back the transaction of a draft. */
class Abandoned extends Error {
  constructor(readonly why: 'entity_not_found' | 'made_by_other') {
    super(why);
  }
}

/** Returns the payment of an earlier attempt of this call, else stores a new draft. */
async function draft(
  deps: PaymentsDeps,
  scope: Scope,
  input: CreatePaymentInput & { currency: string },
): Promise<{ ok: true; paymentId: string } | Extract<CreatePaymentResult, { reason: string }>> {
  const { db, entities } = deps;
  const {
    amount,
    currency,
    description,
    customerEmail,
    entityId,
    callKey,
    actor,
    hops,
    root,
    requestId,
  } = input;
  const origin: Origin = { actor, hops, root, requestId };
  await ensurePaymentType(db, scope);
  for (;;) {
    const earlier = callKey === null ? null : await findByCall(db, scope, callKey);
    if (earlier !== null) return { ok: true, paymentId: earlier };
    try {
      return await db.transaction(async (tx) => {
        const data = { amount, currency, description, status: 'draft', customerEmail };
        const created = await entities.create(scope, { ...origin, type: paymentType, data }, tx);
        if (!created.ok) {
          const problems = created.reason === 'invalid' ? created.problems : [];
          const details =
            problems.map(({ path, message }) => `${path}: ${message}`).join('; ') || created.reason;
          return {
            ok: false,
            reason: 'invalid',
            message: `The payment cannot be stored: ${details}`,
          };
        }
        const payment = toPayment(created.entity.value);
        if (!(await insertOrder(tx, scope, { paymentId: payment.id, callKey })))
          throw new Abandoned('made_by_other');
        if (entityId !== undefined) {
          const relation = { relation: 'payment_for', fromId: payment.id, toId: entityId };
          if (!(await entities.link(scope, relation, tx)).ok)
            throw new Abandoned('entity_not_found');
        }
        await writeEvent(tx, scope, 'payment.created', payment, origin);
        return { ok: true, paymentId: payment.id };
      });
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error;
      if (error.why === 'entity_not_found')
        return { ok: false, reason: 'entity_not_found', message: 'Entity not found' };
    }
  }
}

interface OpenInput extends CreatePaymentInput {
  paymentId: string;
}

/**
 * Creates the link of a draft, or sets it to `failed`. Concurrent calls wait for the
 * one that does this.
 */
async function ensureLink(
  deps: PaymentsDeps,
  scope: Scope,
  account: FlowAccount,
  input: OpenInput,
): Promise<CreatePaymentResult> {
  const { paymentId } = input;
  const untilMs = Date.now() + waitForOtherMs;
  for (;;) {
    const payment = await findPayment(deps.entities, scope, paymentId);
    if (payment === null) return noLink(paymentId, 'The payment has been deleted');
    if (payment.status !== 'draft') return outcomeOf(payment);
    const claim = await claimOrder(deps.db, scope, paymentId);
    if (claim !== null) return createLink(deps, scope, account, payment, { ...input, ...claim });
    if (Date.now() > untilMs || input.signal?.aborted) {
      return noLink(paymentId, 'The payment link is still being created, try again in a minute');
    }
    await sleep(100);
  }
}

async function createLink(
  deps: PaymentsDeps,
  scope: Scope,
  account: FlowAccount,
  payment: Payment,
  input: OpenInput & { attempt: number; isInterrupted: boolean },
): Promise<CreatePaymentResult> {
  const { db, entities, observe, onStep } = deps;
  const { paymentId, actor, hops, root, requestId } = input;
  const origin: Origin = { actor, hops, root, requestId };
  // Without the caller's signal: an order that Flow may have created must be stored. The client has
  // its own time limits.
  const flow = createFlowClient(account, deps.flow);
  let { attempt } = input;
  await onStep?.('claimed', paymentId);
  if (input.isInterrupted) {
    const recovered = await recover(deps, scope, flow, { paymentId, attempt, origin });
    if (!recovered.ok) {
      await releaseOrder(db, scope, paymentId);
      return noLink(paymentId, recovered.message);
    }
    if (recovered.next === 'settled') return ensureLink(deps, scope, account, input);
    attempt = recovered.next;
  }
  const made = await flow.createPayment({
    commerceOrder: commerceOrderOf(paymentId, attempt),
    subject: input.description,
    amount: payment.amount,
    currency: payment.currency,
    email: input.customerEmail,
    urlConfirmation: `${deps.publicUrl}/webhook/flow`,
    urlReturn: account.returnUrl || `${deps.publicUrl}/`,
    ...(input.entityId !== undefined && { optional: JSON.stringify({ entityId: input.entityId }) }),
  });
  await onStep?.('ordered', paymentId);
  const stored = made.ok
    ? await storeLink(deps, scope, paymentId, made.order, origin)
    : await storeFailure(deps, scope, paymentId, made, origin);
  await onStep?.('recorded', paymentId);
  if (stored !== null)
    observe?.({ kind: 'created', result: stored.status === 'pending' ? 'pending' : 'failed' });
  const now = stored ?? (await findPayment(entities, scope, paymentId));
  return now === null ? noLink(paymentId, 'The payment has been deleted') : outcomeOf(now);
}

/**
 * Continues after a process was interrupted while it created the order. If Flow has the order, its
 * link is lost, because only the answer contained the token. Another order then replaces it.
 * Otherwise the order was never created.
 */
async function recover(
  deps: PaymentsDeps,
  scope: Scope,
  flow: FlowClient,
  { paymentId, attempt, origin }: { paymentId: string; attempt: number; origin: Origin },
): Promise<{ ok: true; next: number | 'settled' } | { ok: false; message: string }> {
  const answer = await flow.getStatusByCommerceId(commerceOrderOf(paymentId, attempt));
  if (!answer.ok) {
    return answer.reason === 'refused'
      ? { ok: true, next: attempt }
      : { ok: false, message: answer.message };
  }
  if (answer.status.code === 2) {
    await applyPaymentStatus(deps, scope, {
      paymentId,
      status: answer.status,
      source: 'tool',
      origin,
    });
    return { ok: true, next: 'settled' };
  }
  return { ok: true, next: await nextAttempt(deps.db, scope, paymentId) };
}

/**
 * Stores the link with its event in one transaction; null when the payment is no longer a draft.
 */
const storeLink = (
  { db, entities }: PaymentsDeps,
  scope: Scope,
  paymentId: string,
  { link, token, flowOrder }: FlowOrder,
  origin: Origin,
): Promise<Payment | null> =>
  db.transaction(async (tx) => {
    const change = {
      to: 'pending',
      providerReference: flowOrder,
      paymentLinkUrl: link,
      flowToken: token,
    } as const;
    const moved = await transition(entities, tx, scope, paymentId, change, origin);
    if (moved.ok) await closeOrder(tx, scope, paymentId, { flowToken: token });
    return moved.ok ? moved.payment : null;
  });

/**
 * Sets a payment to `failed` with the reason. After a refusal by Flow a repeated call gets the same
 * answer. After any other failure a repeated call creates another payment.
 */
const storeFailure = (
  { db, entities }: PaymentsDeps,
  scope: Scope,
  paymentId: string,
  failure: FlowFailure,
  origin: Origin,
): Promise<Payment | null> =>
  db.transaction(async (tx) => {
    const change = { to: 'failed', failureReason: describeFailure(failure) } as const;
    const moved = await transition(entities, tx, scope, paymentId, change, origin);
    if (moved.ok)
      await closeOrder(tx, scope, paymentId, { freesCall: failure.reason !== 'refused' });
    return moved.ok ? moved.payment : null;
  });

/** A failure of Flow as a message for people. */
export const describeFailure = (failure: FlowFailure): string =>
  failure.reason !== 'refused'
    ? failure.message
    : `Flow refuses: ${failure.message}${failure.code === null ? '' : ` (${failure.code})`}`;

const noLink = (paymentId: string, message: string): CreatePaymentResult => ({
  ok: false,
  reason: 'no_link',
  message,
  paymentId,
});

function outcomeOf({
  id,
  status,
  paymentLinkUrl,
  providerReference,
  failureReason,
}: Payment): CreatePaymentResult {
  if (status === 'failed') return noLink(id, failureReason ?? 'The payment has failed');
  if (paymentLinkUrl === undefined || providerReference === undefined)
    return noLink(id, `The payment is ${status}`);
  return { ok: true, paymentId: id, paymentLinkUrl, flowOrderId: providerReference };
}
