import { findPaymentHistory } from '@parley/payments';
import { Failure } from '../failure';
import { safeLine } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatFields, formatTime, print, printJson } from '../terminal';

/** `parley payments show <id>`: prints the fields of a payment and its events in order. */
export async function runPaymentsShow(id: string, { json, ...options }: ScopeOptions): Promise<void> {
  const history = await withScope(options, async (db, scope) => {
    const found = await findPaymentHistory(db, scope, id);
    if (found === null) throw new Failure(`No payment ${id} in ${scope.name}`);
    return found;
  });
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
      created: formatTime(new Date(payment.createdAt)),
      paid: typeof data.paidAt === 'number' ? formatTime(new Date(data.paidAt)) : undefined,
      failed: text('failureReason'),
    }),
  );
  for (const { type, at, actor, problem } of events) {
    print(`${formatTime(new Date(at))}  ${type}  by ${actor.type}${problem === null ? '' : `: ${safeLine(problem)}`}`);
  }
}
