import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '@parley/contracts';
import { newId } from '@parley/db';
import type { Origin } from '@parley/events';
import { applyStatus } from './apply-status';
import { describeFailure } from './create-payment';
import type { PaymentObservation, PaymentsDeps } from './deps';
import { type FlowAccount, credentialsOf, listFlowAccounts } from './flow/flow-account';
import { type FlowClient, createFlowClient } from './flow/flow-client';
import { type Payment, paymentType, toPayment } from './payment';
import { claimOrder, closeOrder, commerceOrderOf, findAbandoned, releaseOrder } from './payment-orders';
import { ensurePaymentType } from './payment-type';
import { finishReconciliation, holdReconciliation, saveReconciliation } from './reconciliations';
import { transition } from './transition';

export interface ReconcileOptions {
  /** Only this environment; all unless told. */
  scope?: Scope;
  /** Pending payments from this age on, in milliseconds; an hour, as the interface says. */
  olderThanMs?: number;
  /** Payments asked about in one run of one integration; the next run goes on behind them. */
  maxPerIntegration?: number;
  /** Questions to one provider account. */
  perSecond?: number;
  onProgress?: (report: ReconcileReport) => void;
  /** Stops between two questions. */
  signal?: AbortSignal;
}

/** What a run has done so far. */
export interface ReconcileReport {
  /** Environments with payments to look after, and those of them that another run is at. */
  integrations: number;
  skipped: number;
  asked: number;
  paid: number;
  failed: number;
  unchanged: number;
  mismatched: number;
  errors: number;
  /** One line for each integration that was not finished. */
  problems: string[];
}

const hourMs = 3_600_000;
/** Longer than any process may still be making a link. */
const abandonedMs = 15 * 60_000;
const atOnce = 5;
const accountsAtOnce = 4;
/** In a row without an answer from one account: then it is left alone until the next run. */
const maxFailures = 5;
const origin: Origin = { actor: { type: 'system' } };

/**
 * Asks Flow about every pending payment that is old enough, and settles what has been settled there (interface.md,
 * Reconciliation). Integrations are held one by one, so that runs at the same time share the work; an account that
 * fails does not stop the others.
 */
export async function reconcile(deps: PaymentsDeps, options: ReconcileOptions = {}): Promise<ReconcileReport> {
  const report: ReconcileReport = {
    ...{ integrations: 0, skipped: 0, asked: 0, paid: 0, failed: 0, unchanged: 0, mismatched: 0, errors: 0 },
    problems: [],
  };
  const { accounts, unusable } = await listFlowAccounts(deps.db, deps.box);
  const isWanted = ({ scope }: { scope: Scope }) =>
    options.scope === undefined ||
    (scope.organizationId === options.scope.organizationId && scope.environment === options.scope.environment);
  for (const { scope, message } of unusable.filter(isWanted)) report.problems.push(`${nameOf(scope)}: ${message}`);
  const queue = [...Map.groupBy(accounts.filter(isWanted), credentialsOf).values()].values();
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
/** `refused`: an error of the one payment; the account does answer. */
type Answer = Outcome | 'refused';

/** A run over the integrations that share one provider account, and with it one pace. */
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

  /** Never faster than the account may be asked. */
  const paced = async <T>(items: T[], ask: (item: T) => Promise<Answer>): Promise<void> => {
    for (let at = 0; at < items.length && !signal?.aborted && failures < maxFailures; at += atOnce) {
      const batch = items.slice(at, at + atOnce);
      const pause = sleep((batch.length / perSecond) * 1000);
      await Promise.all(batch.map(async (item) => count(await ask(item))));
      await pause;
    }
  };

  return async (account: FlowAccount): Promise<void> => {
    const { scope, integrationId } = account;
    const owner = newId('run');
    const held = await holdReconciliation(deps.db, scope, integrationId, owner);
    if (held === null) {
      report.skipped += 1;
      return;
    }
    report.integrations += 1;
    let problem: string | null = null;
    try {
      await ensurePaymentType(deps.db, scope);
      const flow = createFlowClient(account, deps.flow);
      const ask = (payment: Payment) => askAbout(deps, scope, flow, payment);
      await paced(
        await findAbandoned(deps.db, scope, { olderThanMs: abandonedMs, limit: maxPerIntegration }),
        (paymentId) => giveUp(deps, scope, flow, paymentId),
      );
      let cursor = held.cursor;
      for (let left = maxPerIntegration; left > 0 && !signal?.aborted && failures < maxFailures;) {
        const page = await overdue(deps, scope, cursor, Math.min(100, left), options.olderThanMs ?? hourMs);
        await paced(page.payments, ask);
        left -= page.payments.length;
        // What was not asked about is looked at again: the place moves only behind what is done.
        if (signal?.aborted || failures >= maxFailures) break;
        cursor = page.next;
        if (!(await saveReconciliation(deps.db, scope, integrationId, owner, cursor)) || cursor === null) break;
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

/** The next pending payments, oldest first; `next` is null where the list ends, and the next run begins anew. */
async function overdue(
  { entities }: PaymentsDeps,
  scope: Scope,
  cursor: string | null,
  limit: number,
  olderThanMs: number,
): Promise<{ payments: Payment[]; next: string | null }> {
  const filters = { 'data.status': 'pending', 'data.providerReference': { $exists: true } };
  const sort = { field: 'createdAt', direction: 'asc' } as const;
  const ask = (from: string | null) =>
    entities.query(scope, { type: paymentType, filters, sort, limit, ...(from && { cursor: from }) });
  let result = await ask(cursor);
  // A cursor of another version of the product.
  if (!result.ok && cursor !== null) result = await ask(null);
  if (!result.ok) throw new Error(`Pending payments cannot be listed: ${JSON.stringify(result)}`);
  const found = result.page.entities.map(toPayment);
  const payments = found.filter(({ createdAt }) => createdAt <= Date.now() - olderThanMs);
  const isEnd = !result.page.hasMore || payments.length < found.length;
  return { payments, next: isEnd ? null : result.page.cursor };
}

async function askAbout(
  deps: PaymentsDeps,
  scope: Scope,
  flow: FlowClient,
  { id: paymentId, providerReference }: Payment,
): Promise<Answer> {
  if (providerReference === undefined) return 'unchanged';
  const answer = await flow.getStatusByFlowOrder(providerReference);
  if (!answer.ok) {
    deps.log.warn({ ...scope, paymentId, problem: describeFailure(answer) }, 'reconciliation got no status');
    return answer.reason === 'refused' ? 'refused' : 'error';
  }
  const { status } = answer;
  const applied = await applyStatus(deps, scope, { paymentId, status, source: 'reconciliation', origin });
  if (!applied.ok) {
    if (applied.reason === 'not_found') return 'unchanged';
    deps.observe?.({ kind: 'mismatch', source: 'reconciliation' });
    deps.log.warn({ ...scope, paymentId, problem: applied.problem }, 'payment does not match what Flow says');
    return 'mismatch';
  }
  return applied.changed && (applied.status === 'paid' || applied.status === 'failed') ? applied.status : 'unchanged';
}

/** A payment whose making a crash cut short: its link reached nobody, so it fails, unless Flow says otherwise. */
async function giveUp(deps: PaymentsDeps, scope: Scope, flow: FlowClient, paymentId: string): Promise<Outcome> {
  const claim = await claimOrder(deps.db, scope, paymentId);
  if (claim === null) return 'unchanged';
  const answer = await flow.getStatusByCommerceId(commerceOrderOf(paymentId, claim.attempt));
  if (!answer.ok && answer.reason !== 'refused') {
    await releaseOrder(deps.db, scope, paymentId);
    return 'error';
  }
  if (answer.ok && answer.status.code === 2) {
    const { status } = answer;
    const applied = await applyStatus(deps, scope, { paymentId, status, source: 'reconciliation', origin });
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

const nameOf = ({ organizationId, environment }: Scope): string => `${environment} of ${organizationId}`;
