import { createEntities } from '@parley/entities';
import { type ReconcileReport, createPayments } from '@parley/payments';
import { startProgress } from '../data/progress';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { findOrganization } from '../organizations';
import { safeLine } from '../safe-text';
import { type ScopeOptions, parseEnvironment, scopeOf } from '../scope';
import { openSecretBox } from '../secrets';
import { note, print, printJson } from '../terminal';

export interface PaymentsReconcileOptions extends ScopeOptions {
  all?: boolean;
  olderThan?: string;
  json?: boolean;
}

/** `parley payments reconcile`: what the worker does every five minutes, now. Both may run at the same time. */
export async function runPaymentsReconcile(options: PaymentsReconcileOptions): Promise<void> {
  const { all, olderThan = '60', json, env = 'development', org } = options;
  if (!/^\d{1,7}$/.test(olderThan)) throw usageFailure(`--older-than wants minutes, not "${olderThan}"`);
  if (all && (options.env ?? org) !== undefined)
    throw usageFailure('--all looks everywhere: leave out --env and --org');
  const environment = parseEnvironment(env);
  const box = openSecretBox();
  const report = await withDatabase(async (db) => {
    const scope = all ? undefined : scopeOf(await findOrganization(db, org), environment);
    const entities = createEntities({ db });
    const tell = ({ paymentId, problem }: Record<string, unknown>, message: string) =>
      note(safeLine(`${message}: ${paymentId} ${problem ?? ''}`));
    // No payment is made here, so nobody is told of an address.
    const log = { info: () => {}, warn: tell, error: tell };
    const payments = createPayments({ db, entities, box, publicUrl: '', log });
    const progress = startProgress('Asking about payments', 0, json);
    const olderThanMs = Number(olderThan) * 60_000;
    const report = await payments.reconcile({ scope, olderThanMs, onProgress: ({ asked }) => progress.advance(asked) });
    progress.stop(`Asked about ${report.asked} payments`);
    await entities.settled();
    return report;
  });
  if (json) printJson(report);
  else print(summaryOf(report));
  const problems = [...report.problems];
  if (report.errors > 0) problems.push(`${report.errors} of ${report.asked} payments are without an answer`);
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}

function summaryOf({ asked, paid, failed, unchanged, mismatched, errors, skipped }: ReconcileReport): string {
  const parts = [`${asked} asked`, `${paid} paid`, `${failed} failed`, `${unchanged} unchanged`];
  if (mismatched > 0) parts.push(`${mismatched} do not match (parley payments show <id>)`);
  if (errors > 0) parts.push(`${errors} without an answer`);
  if (skipped > 0) parts.push(`${skipped} environments are being looked at by another run`);
  return parts.join(', ');
}
