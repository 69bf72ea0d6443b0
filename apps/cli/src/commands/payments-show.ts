import { type KeyOptions, withManage } from '../manage';
import { safeLine } from '../safe-text';
import { formatFields, formatTime, print, printJson } from '../terminal';

/** `parley payments show <id>`: prints the fields of a payment and its events in order. */
export async function runPaymentsShow(id: string, { json, ...options }: KeyOptions): Promise<void> {
  const history = await withManage(options, (manage) => manage.getPayment({ id }));
  if (json) return printJson(history);
  const { payment, attempts, paidFor, events } = history;
  const { data } = payment;
  const text = (name: string) => (data[name] === undefined ? undefined : String(data[name]));
  print(
    formatFields({
      payment: payment.id,
      status: text('status'),
      amount: `${data.amount} ${data.currency}`,
      for: text('description'),
      customer: text('customerEmail'),
      'paid for': paidFor.length === 0 ? undefined : paidFor.join(', '),
      order: text('providerReference'),
      link: text('paymentLinkUrl'),
      attempts: attempts === null || attempts === 1 ? undefined : String(attempts),
      created: formatTime(payment.createdAt),
      paid: typeof data.paidAt === 'number' ? formatTime(data.paidAt) : undefined,
      failed: text('failureReason'),
    }),
  );
  for (const { type, at, actor, problem } of events) {
    print(
      `${formatTime(at)}  ${type}  by ${actor.type}${problem === null ? '' : `: ${safeLine(problem)}`}`,
    );
  }
}
