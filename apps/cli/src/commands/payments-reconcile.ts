import { iterate } from '@parley/client/manage';
import { startProgress } from '../data/progress';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, changeEach, withManage } from '../manage';
import { print, printJson } from '../terminal';

export interface PaymentsReconcileOptions extends KeyOptions {
  olderThan?: string;
}

/** `parley payments reconcile`: asks the provider about pending payments now, as the worker does every five minutes. */
export async function runPaymentsReconcile(ids: string[], options: PaymentsReconcileOptions): Promise<void> {
  const { olderThan = '60', json } = options;
  if (!/^\d{1,7}$/.test(olderThan)) throw usageFailure(`--older-than must be a number of minutes, not "${olderThan}"`);
  const progress = startProgress('Checking payments', 0, json);
  const { results, problems } = await withManage(options, async (manage) => {
    const names = [...ids];
    const until = Date.now() - Number(olderThan) * 60_000;
    if (ids.length === 0)
      for await (const { id, createdAt } of iterate(manage.listPayments, { status: 'pending', limit: 100 }))
        if (createdAt <= until) names.push(id);
    return changeEach(names, async (id) => {
      progress.advance(1);
      return (await manage.reconcilePayment({ id })).payment;
    });
  });
  const checked = results.length + problems.length;
  progress.stop(`Checked ${checked} payments`);
  const count = (status: string) => results.filter(({ data }) => data.status === status).length;
  const report = { checked, paid: count('paid'), failed: count('failed'), pending: count('pending'), problems };
  if (json) printJson(report);
  else print(`${checked} checked, ${report.paid} paid, ${report.failed} failed, ${report.pending} pending`);
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}
