import { startProgress } from '../data/progress';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { print, printJson } from '../terminal';

/**
 * `parley payments reconcile`: asks the provider about pending payments now, as the worker does
 * every five minutes.
 */
export async function runPaymentsReconcile(
  options: KeyOptions & { olderThan?: string },
): Promise<void> {
  const { olderThan = '60', json } = options;
  if (!/^\d{1,7}$/.test(olderThan))
    throw usageFailure(`--older-than must be a number of minutes, not "${olderThan}"`);
  const progress = await startProgress('Checking payments', 0, json);
  const report = { asked: 0, paid: 0, failed: 0, unchanged: 0, mismatched: 0, errors: 0 };
  const problems = await withManage(options, async (manage) => {
    for (;;) {
      const part = await manage.reconcilePayments({ olderThanMinutes: Number(olderThan) });
      for (const name of Object.keys(report) as (keyof typeof report)[]) report[name] += part[name];
      progress.advance(part.asked);
      // Each request continues after the payments of the one before.
      if (part.isComplete || part.asked === 0) return [...part.problems];
    }
  });
  progress.stop(`Checked ${report.asked} payments`);
  const { asked, errors, ...counts } = report;
  if (json) printJson({ ...report, problems });
  else
    print(
      [
        `${asked} checked`,
        ...Object.entries(counts).map(([name, count]) => `${count} ${name}`),
      ].join(', '),
    );
  if (errors > 0) problems.push(`The status of ${errors} of ${asked} payments could not be read`);
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}
