import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, paymentType } from '@parley/contracts';
import { newId } from '@parley/db';
import type { Origin } from '@parley/events';
import { applyPaymentStatus } from './apply-payment-status';
import { describeFailure } from './create-payment';
import type { PaymentObservation, PaymentsDeps } from './deps';
import { type FlowAccount, credentialsOf, listFlowAccounts } from './flow/flow-account';
import { type FlowClient, createFlowClient } from './flow/flow-client';
import { findHeld } from './held-payments';
import { type Payment, toPayment } from './payment';
import {
  claimOrder,
  closeOrder,
  commerceOrderOf,
  findAbandoned,
  releaseOrder,
} from './payment-orders';
import { ensurePaymentType } from './payment-type';
import { finishReconciliation, claimReconciliation, saveReconciliation } from './reconciliations';
import { transition } from './transition';

export interface ReconcileOptions {
  /** The only environment to reconcile. Default: all. */
  scope?: Scope;
  /** Minimum age of the pending payments. Default: one hour. */
  olderThanMs?: number;
  /** Maximum payments per run and integration. The next run continues after them. Default: 500. */
  maxPerIntegration?: number;
  /** Maximum status requests per second to one provider account. Default: 10. */
  perSecond?: number;
  onProgress?: (report: ReconcileReport) => void;
  /** Stops the run between two batches of requests. */
  signal?: AbortSignal;
}

/** The results of a run so far. */
export interface ReconcileReport {
  /** Integrations that were reconciled. */
  integrations: number;
  /** Integrations that another run holds. */
  skipped: number;
  /** Payments whose status was requested. */
  asked: number;
  paid: number;
  failed: number;
  unchanged: number;
  mismatched: number;
  errors: number;
  /** One line per integration that was not finished. */
  problems: string[];
}

const hourMs = 3_600_000;
/** After this time no process can still be creating the link of a payment. */
const abandonedMs = 15 * 60_000;
const atOnce = 5;
const accountsAtOnce = 4;
/** After this many consecutive failures an account is not called until the next run. */
const maxFailures = 5;
const origin: Origin = { actor: { type: 'system' } };

/**
 * Requests the status of pending payments that are old enough, and applies it
 * (docs/reference/payments.md#reconciliation). Each integration is claimed separately, so that
 * concurrent runs share the work. An account that fails does not stop others.
 */
export async function reconcile(
  deps: PaymentsDeps,
  options: ReconcileOptions = {},
): Promise<ReconcileReport> {
  const report: ReconcileReport = {
    integrations: 0,
    skipped: 0,
    asked: 0,
    paid: 0,
    failed: 0,
    unchanged: 0,
    mismatched: 0,
    errors: 0,
    problems: [],
  };
  const { accounts, unusable } = await listFlowAccounts(deps.db, deps.box, options.scope);
  for (const { scope, message } of unusable) report.problems.push(`${nameOf(scope)}: ${message}`);
  const queue = [...Map.groupBy(accounts, credentialsOf).values()].values();
  const work = async () => {
    for (const sharing of queue) {
      const run = createRun(deps, options, report);
      for (const account of sharing) {
        if (!options.signal?.aborted) await run(account);
      }
    }
  };
  await Promise.all(Array.from({ length: accountsAtOnce }, work));
  return report;
}

type Outcome = Extract<PaymentObservation, { kind: 'reconciled' }>['result'];
/** `refused`: an error of one payment only, because the account does answer. */
type Answer = Outcome | 'refused';

/** Reconciles the integrations that share one provider account and its rate limit. */
function createRun(deps: PaymentsDeps, options: ReconcileOptions, report: ReconcileReport) {
  const { maxPerIntegration = 500, perSecond = 10, signal, onProgress } = options;
  let failures = 0;

  const count = (answer: Answer) => {
    const outcome = answer === 'refused' ? 'error' : answer;
    report.asked += 1;
    const key = outcome === 'mismatch' ? 'mismatched' : outcome === 'error' ? 'errors' : outcome;
    report[key] += 1;
    failures = answer === 'error' ? failures + 1 : 0;
    deps.observe?.({ kind: 'reconciled', result: outcome });
    onProgress?.(report);
  };

  /** Runs `ask` for the items in batches, within the rate limit of the account. */
  const forEachPaced = async <T>(items: T[], ask: (item: T) => Promise<Answer>): Promise<void> => {
    for (
      let at = 0;
      at < items.length && !signal?.aborted && failures < maxFailures;
      at += atOnce
    ) {
      const batch = items.slice(at, at + atOnce);
      const pause = sleep((batch.length / perSecond) * 1000);
      await Promise.all(batch.map(async (item) => count(await ask(item))));
      await pause;
    }
  };

  return async (account: FlowAccount): Promise<void> => {
    const { scope, integrationId } = account;
    const owner = newId('run');
    const claimed = await claimReconciliation(deps.db, scope, integrationId, owner);
    if (claimed === null) {
      report.skipped += 1;
      return;
    }
    report.integrations += 1;
    let problem: string | null = null;
    try {
      await ensurePaymentType(deps.db, scope);
      const flow = createFlowClient(account, deps.flow);
      const ask = (payment: Payment) => checkPayment(deps, scope, flow, payment);
      await forEachPaced(
        await findAbandoned(deps.db, scope, { olderThanMs: abandonedMs, limit: maxPerIntegration }),
        (paymentId) => failAbandoned(deps, scope, flow, paymentId),
      );
      let cursor = claimed.cursor;
      for (let left = maxPerIntegration; left > 0 && !signal?.aborted && failures < maxFailures;) {
        const page = await overdue(
          deps,
          scope,
          cursor,
          Math.min(100, left),
          options.olderThanMs ?? hourMs,
        );
        await forEachPaced(page.payments, ask);
        left -= page.payments.length;
        // The cursor moves only past a page that is complete.
        if (signal?.aborted || failures >= maxFailures) break;
        cursor = page.next;
        if (
          !(await saveReconciliation(deps.db, scope, integrationId, owner, cursor)) ||
          cursor === null
        )
          break;
      }
      if (failures >= maxFailures) problem = 'Flow does not answer';
    } catch (error) {
      deps.log.error({ err: error, ...scope }, 'reconciliation of an integration failed');
      problem = 'failed unexpectedly';
    } finally {
      if (problem !== null) report.problems.push(`${nameOf(scope)}: ${problem}`);
      await finishReconciliation(deps.db, scope, integrationId, owner, problem).catch(() => {});
    }
  };
}

/**
 * Reads the next pending payments, oldest first, without those that a restore holds. `next` is null
 * at the end, and the next run starts from the beginning.
 */
async function overdue(
  { db, entities }: PaymentsDeps,
  scope: Scope,
  cursor: string | null,
  limit: number,
  olderThanMs: number,
): Promise<{ payments: Payment[]; next: string | null }> {
  const filters = { 'data.status': 'pending', 'data.providerReference': { $exists: true } };
  const sort = { field: 'createdAt', direction: 'asc' } as const;
  const ask = (from: string | null) =>
    entities.query(scope, {
      type: paymentType,
      filters,
      sort,
      limit,
      ...(from && { cursor: from }),
    });
  let result = await ask(cursor);
  // An invalid cursor was written by another version of the product.
  if (!result.ok && cursor !== null) result = await ask(null);
  if (!result.ok) throw new Error(`Pending payments cannot be listed: ${JSON.stringify(result)}`);
  const found = result.page.entities.map(toPayment);
  const payments = found.filter(({ createdAt }) => createdAt <= Date.now() - olderThanMs);
  const isEnd = !result.page.hasMore || payments.length < found.length;
  const held = await findHeld(
    db,
    scope,
    payments.map(({ id }) => id),
  );
  return {
    payments: payments.filter(({ id }) => !held.has(id)),
    next: isEnd ? null : result.page.cursor,
  };
}

async function checkPayment(
  deps: PaymentsDeps,
  scope: Scope,
  flow: FlowClient,
  { id: paymentId, providerReference }: Payment,
): Promise<Answer> {
  if (providerReference === undefined) return 'unchanged';
  const answer = await flow.getStatusByFlowOrder(providerReference);
  if (!answer.ok) {
    deps.log.warn(
      { ...scope, paymentId, problem: describeFailure(answer) },
      'reconciliation received no status',
    );
    return answer.reason === 'refused' ? 'refused' : 'error';
  }
  const { status } = answer;
  const applied = await applyPaymentStatus(deps, scope, {
    paymentId,
    status,
    source: 'reconciliation',
    origin,
  });
  if (!applied.ok) {
    if (applied.reason === 'not_found') return 'unchanged';
    deps.observe?.({ kind: 'mismatch', source: 'reconciliation' });
    deps.log.warn(
      { ...scope, paymentId, problem: applied.problem },
      'the status of Flow does not match the payment',
    );
    return 'mismatch';
  }
  return applied.changed && (applied.status === 'paid' || applied.status === 'failed')
    ? applied.status
    : 'unchanged';
}

/**
 * Fails a payment whose creation was interrupted, because its link was never returned, unless Flow
 * reports it as paid.
 */
async function failAbandoned(
  deps: PaymentsDeps,
  scope: Scope,
  flow: FlowClient,
  paymentId: string,
): Promise<Outcome> {
  const claim = await claimOrder(deps.db, scope, paymentId);
  if (claim === null) return 'unchanged';
  const answer = await flow.getStatusByCommerceId(commerceOrderOf(paymentId, claim.attempt));
  if (!answer.ok && answer.reason !== 'refused') {
    await releaseOrder(deps.db, scope, paymentId);
    return 'error';
  }
  if (answer.ok && answer.status.code === 2) {
    const { status } = answer;
    const applied = await applyPaymentStatus(deps, scope, {
      paymentId,
      status,
      source: 'reconciliation',
      origin,
    });
    if (applied.ok && applied.changed) return 'paid';
  }
  return deps.db.transaction(async (tx) => {
    const change = {
      to: 'failed',
      failureReason: 'The payment link was never completed',
      ...(answer.ok && { providerReference: answer.status.flowOrder }),
    } as const;
    const moved = await transition(deps.entities, tx, scope, paymentId, change, origin);
    await closeOrder(tx, scope, paymentId, { freesCall: true });
    return moved.ok ? 'failed' : 'unchanged';
  });
}

const nameOf = ({ organizationId, environment }: Scope): string =>
  `${environment} of ${organizationId}`;
