import type { InputOf, ResultOf } from '@parley/client/manage';

export type Payment = ResultOf<'listPayments'>['data'][number];
export type PaymentStatus = NonNullable<InputOf<'listPayments'>['status']>;

/** The fields of a payment (docs/reference/payments.md#payment-entity). */
interface PaymentData {
  amount: unknown;
  currency: unknown;
  status: string;
  description: string;
  customerEmail: string;
  providerReference: string;
  failureReason: string;
  /** Only an address that a browser may open. */
  paymentLinkUrl: string | null;
  paidAt: number | null;
}

const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);

/**
 * The fields of a payment. It is an entity that others may have changed, so nothing
 * about it is certain.
 */
export function dataOf({ data }: { data: object }): PaymentData {
  const fields = data as Record<string, unknown>;
  const url = text(fields.paymentLinkUrl);
  return {
    amount: fields.amount,
    currency: fields.currency,
    status: text(fields.status),
    description: text(fields.description),
    customerEmail: text(fields.customerEmail),
    providerReference: text(fields.providerReference),
    failureReason: text(fields.failureReason),
    paymentLinkUrl: /^https?:\/\//.test(url) ? url : null,
    paidAt: typeof fields.paidAt === 'number' ? fields.paidAt : null,
  };
}
