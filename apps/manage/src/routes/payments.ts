import type { Db } from '@parley/db';
import { type Payments, findPaymentHistory, listCreditEntries, listPayments, readBalance } from '@parley/payments';
import { actorOf } from '@parley/permissions';
import { type Handler, badGateway, badRequest, conflict, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { msOf, pageOf } from '../page';

interface Handlers {
  listPayments: Handler<'listPayments'>;
  getPayment: Handler<'getPayment'>;
  reconcilePayment: Handler<'reconcilePayment'>;
  getCredits: Handler<'getCredits'>;
  listCreditEntries: Handler<'listCreditEntries'>;
}

export interface PaymentRouteDeps extends AuditDeps {
  db: Db;
  payments: Pick<Payments, 'getStatus'>;
}

const paymentNotFound = () => notFound('Payment not found', 'payment_not_found');

export const createPaymentHandlers = ({ db, payments, ...deps }: PaymentRouteDeps): Handlers => ({
  async listPayments({ query: { limit, cursor = '', status } }, { scope }) {
    const page = await listPayments(db, scope, { status, limit, cursor });
    if (page === null)
      throw badRequest('The cursor is invalid or belongs to another list', undefined, 'invalid_cursor');
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
    const result = await payments.getStatus(scope, { paymentId: id, signal, actor: actorOf(caller), requestId });
    if (!result.ok && result.reason === 'not_found') throw paymentNotFound();
    const after = (await findPaymentHistory(db, scope, id))?.payment ?? before.payment;
    await auditOf(deps, context)(db, {
      action: 'payment.reconciled',
      target: { type: 'payment', id },
      before: { status: before.payment.data.status ?? null },
      after: { status: after.data.status ?? null, ...(!result.ok && { problem: result.message }) },
    });
    if (!result.ok && result.reason === 'mismatch') throw conflict(result.message, 'payment_mismatch');
    if (!result.ok) throw badGateway(result.message, 'provider_failed');
    return { payment: after, provider: result.flow ?? null };
  },

  getCredits: async (_input, { scope }) => ({ balanceCents: await readBalance(db, scope) }),

  async listCreditEntries({ query }, { scope }) {
    const { page, answer } = pageOf('credit-entries', scope, query);
    const entries = await listCreditEntries(db, scope, page);
    return answer(entries, ({ createdAt, ...entry }) => ({ ...entry, createdAt: msOf(createdAt) }));
  },
});
