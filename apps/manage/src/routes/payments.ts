import type { Db } from '@parley/db';
import { rejectOnAbort } from '@parley/outbound';
import {
  type Payments,
  type ReconcileReport,
  findPaymentHistory,
  listCreditEntries,
  listPayments,
  readBalance,
} from '@parley/payments';
import { actorOf } from '@parley/permissions';
import { type Handler, badGateway, badRequest, conflict, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { msOf, pageOf } from '../page';

interface Handlers {
  listPayments: Handler<'listPayments'>;
  getPayment: Handler<'getPayment'>;
  reconcilePayment: Handler<'reconcilePayment'>;
  reconcilePayments: Handler<'reconcilePayments'>;
  getCredits: Handler<'getCredits'>;
  listCreditEntries: Handler<'listCreditEntries'>;
}

export interface PaymentRouteDeps extends AuditDeps {
  db: Db;
  payments: Pick<Payments, 'getStatus' | 'reconcile'>;
  /** Time limit of the reconciliation of an environment. Below the deadline of the gateway. */
  reconcileLimitMs?: number;
}

/** Payments of one request; ten are requested in a second. */
const maxReconciled = 100;

/** A problem begins with the environment and organization, which the caller knows. */
const withoutScope = (problem: string): string => problem.slice(problem.indexOf(': ') + 2);

const paymentNotFound = () => notFound('Payment not found', 'payment_not_found');

export const createPaymentHandlers = ({
  db,
  payments,
  reconcileLimitMs = 20_000,
  ...deps
}: PaymentRouteDeps): Handlers => ({
  async listPayments({ query: { limit, cursor = '', status } }, { scope }) {
    const page = await listPayments(db, scope, { status, limit, cursor });
    if (page === null)
      throw badRequest(
        'The cursor is invalid or belongs to another list',
        undefined,
        'invalid_cursor',
      );
    return { data: page.payments, cursor: page.next ?? cursor, hasMore: page.next !== null };
  },

  async getPayment({ params: { id } }, { scope }) {
    const history = await findPaymentHistory(db, scope, id);
    if (history === null) throw paymentNotFound();
    const events = history.events.map(({ at, actor, ...event }) => ({
      ...event,
      actor: { type: actor.type },
      at: msOf(at),
    }));
    return { ...history, events };
  },

  async reconcilePayment({ params: { id } }, context) {
    const { scope, caller, signal, requestId } = context;
    const before = await findPaymentHistory(db, scope, id);
    if (before === null) throw paymentNotFound();
    const result = await payments.getStatus(scope, {
      paymentId: id,
      signal,
      actor: actorOf(caller),
      requestId,
    });
    if (!result.ok && result.reason === 'not_found') throw paymentNotFound();
    const after = (await findPaymentHistory(db, scope, id))?.payment ?? before.payment;
    await auditOf(deps, context)(db, {
      action: 'payment.reconciled',
      target: { type: 'payment', id },
      before: { status: before.payment.data.status ?? null },
      after: { status: after.data.status ?? null, ...(!result.ok && { problem: result.message }) },
    });
    if (!result.ok && result.reason === 'mismatch')
      throw conflict(result.message, 'payment_mismatch');
    if (!result.ok) throw badGateway(result.message, 'provider_failed');
    return { payment: after, provider: result.flow ?? null };
  },

  async reconcilePayments({ body: { olderThanMinutes } }, context) {
    const { scope } = context;
    const limit = AbortSignal.timeout(reconcileLimitMs);
    let report: ReconcileReport | undefined;
    const run = payments.reconcile({
      scope,
      olderThanMs: olderThanMinutes * 60_000,
      maxPerIntegration: maxReconciled,
      signal: limit,
      onProgress: (current) => (report = current),
    });
    // A request to the provider may outlast the limit. The run ends after it, and its counts
    // are not waited for.
    const isLimit = await rejectOnAbort(run, limit).then(
      (finished) => {
        report = finished;
        return false;
      },
      (error: unknown) => {
        if (!limit.aborted) throw error;
        run.catch((failure: unknown) =>
          context.log.error({ err: failure }, 'reconciliation failed'),
        );
        return true;
      },
    );
    const problems = report?.problems.map(withoutScope) ?? [];
    const {
      asked = 0,
      paid = 0,
      failed = 0,
      unchanged = 0,
      mismatched = 0,
      errors = 0,
    } = report ?? {};
    if (!isLimit && report?.skipped)
      throw conflict('The payments of this environment are being reconciled', 'already_running');
    if (!isLimit && report?.integrations === 0 && problems.length === 0)
      throw conflict(`Payments are not configured in ${scope.environment}`, 'not_configured');
    const isComplete = !isLimit && asked < maxReconciled && problems.length === 0;
    const counts = { asked, paid, failed, unchanged, mismatched, errors };
    await auditOf(deps, context)(db, {
      action: 'payments.reconciled',
      target: { type: 'environment', id: scope.environment },
      after: { olderThanMinutes, ...counts, isComplete },
    });
    return { ...counts, isComplete, problems };
  },

  getCredits: async (_input, { scope }) => ({ balanceCents: await readBalance(db, scope) }),

  async listCreditEntries({ query }, { scope }) {
    const { page, answer } = pageOf('credit-entries', scope, query);
    const entries = await listCreditEntries(db, scope, page);
    return answer(entries, ({ createdAt, ...entry }) => ({ ...entry, createdAt: msOf(createdAt) }));
  },
});
