import {
  creditEntriesSchema,
  creditsSchema,
  listCreditEntriesQuerySchema,
  listPaymentsQuerySchema,
  paymentDetailsSchema,
  paymentListSchema,
  paymentParamsSchema,
  reconcilePaymentsBodySchema,
  reconciledPaymentSchema,
  reconciledPaymentsSchema,
} from '../../http/manage/payments';
import { defineOperations, get, post } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const table = {
  listPayments: get('/v1/payments', 'manage', { ...member, replica: true }),
  getPayment: get('/v1/payments/:id', 'manage', member),
  reconcilePayment: post('/v1/payments/:id/reconcile', 'manage', member),
  reconcilePayments: post('/v1/payments/reconcile', 'manage', member),
  getCredits: get('/v1/credits', 'manage', member),
  listCreditEntries: get('/v1/credits/entries', 'manage', { ...member, replica: true }),
};

const payment = {
  id: 'ent_01',
  type: 'payment',
  status: 'active',
  data: { status: 'pending', amount: 24990, currency: 'CLP' },
  createdAt: 1763683200000,
  updatedAt: 1763683200000,
};
const notFound = ['payment_not_found', 'Payment not found'] as const;

export const paymentOperations = defineOperations('Operations', table, {
  listPayments: {
    summary: 'List payments',
    query: listPaymentsQuerySchema,
    response: paymentListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [payment], cursor: 'c1.WyI…', hasMore: false } },
  },
  getPayment: {
    summary: 'Retrieve a payment',
    params: paymentParamsSchema,
    response: paymentDetailsSchema,
    errors: { 404: [notFound] },
    example: {
      response: {
        payment,
        attempts: 1,
        paidFor: ['ent_02'],
        events: [
          { type: 'payment.pending', at: 1763683200000, actor: { type: 'agent' }, problem: null },
        ],
      },
    },
  },
  reconcilePayment: {
    summary: 'Ask the provider for the status of a payment',
    description:
      'Requests the status from the provider and applies it. A payment leaves `pending` once.',
    params: paymentParamsSchema,
    response: reconciledPaymentSchema,
    errors: {
      404: [notFound],
      409: [
        [
          'payment_mismatch',
          'The status of Flow does not match the payment: amount 1000 instead of 24990',
        ],
      ],
      502: [['provider_failed', 'Flow did not answer']],
    },
    example: { response: { payment, provider: { status: 1, message: 'pending' } } },
  },
  reconcilePayments: {
    summary: 'Reconcile pending payments',
    description:
      'Requests the status of the pending payments of the environment, oldest first, at most 100 and for at most 20 seconds, as the worker does every 5 minutes.',
    body: reconcilePaymentsBodySchema,
    bodyOptional: true,
    response: reconciledPaymentsSchema,
    errors: {
      409: [
        ['not_configured', 'Payments are not configured in development'],
        ['already_running', 'The payments of this environment are being reconciled'],
      ],
    },
    example: {
      body: { olderThanMinutes: 60 },
      response: {
        asked: 12,
        paid: 2,
        failed: 1,
        unchanged: 9,
        mismatched: 0,
        errors: 0,
        isComplete: true,
        problems: [],
      },
    },
  },
  getCredits: {
    summary: 'Retrieve the balance of credits',
    description: 'The balance of the organization, for both environments.',
    response: creditsSchema,
    example: { response: { balanceCents: 5000 } },
  },
  listCreditEntries: {
    summary: 'List the entries of credits',
    query: listCreditEntriesQuerySchema,
    response: creditEntriesSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: {
      response: {
        data: [
          {
            id: 'credit_01',
            amountCents: 5000,
            reason: 'Order paid',
            cause: 'polar-order-1-paid',
            createdAt: 1763683200000,
          },
        ],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
});
