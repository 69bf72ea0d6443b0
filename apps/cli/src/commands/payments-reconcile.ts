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
}

/** `parley payments reconcile`: runs the worker's reconciliation of every five minutes now. Both may run concurrently. */
export async function runPaymentsReconcile(options: PaymentsReconcileOptions): Promise<void> {
  const { all, olderThan = '60', json, env = 'development', org } = options;
  if (!/^\d{1,7}$/.test(olderThan)) throw usageFailure(`--older-than must be a number of minutes, not "${olderThan}"`);
  if (all && (options.env ?? org) !== undefined) throw usageFailure('--all cannot be combined with --env or --org');
  const environment = parseEnvironment(env);
  const box = openSecretBox();
  const report = await withDatabase(async (db) => {
    const scope = all ? undefined : scopeOf(await findOrganization(db, org), environment);
    const entities = createEntities({ db });
    const printProblem = ({ paymentId, problem }: Record<string, unknown>, message: string) =>
      note(safeLine(`${message}: ${paymentId} ${problem ?? ''}`));
    const log = { info: () => {}, warn: printProblem, error: printProblem };
    // publicUrl is the provider's callback address of new payments. None is created here.
    const payments = createPayments({ db, entities, box, publicUrl: '', log });
    const progress = startProgress('Checking payments', 0, json);
    const olderThanMs = Number(olderThan) * 60_000;
    const report = await payments.reconcile({ scope, olderThanMs, onProgress: ({ asked }) => progress.advance(asked) });
    progress.stop(`Checked ${report.asked} payments`);
    await entities.settled();
    return report;
  });
  if (json) printJson(report);
  else print(summaryOf(report));
  const problems = [...report.problems];
  if (report.errors > 0) problems.push(`The status of ${report.errors} of ${report.asked} payments could not be read`);
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}

function summaryOf({ asked, paid, failed, unchanged, mismatched, errors, skipped }: ReconcileReport): string {
  const parts = [`${asked} checked`, `${paid} paid`, `${failed} failed`, `${unchanged} unchanged`];
  if (mismatched > 0) parts.push(`${mismatched} mismatched (see parley payments show <id>)`);
  if (errors > 0) parts.push(`${errors} not readable`);
  if (skipped > 0) parts.push(`${skipped} environments skipped because another run is reconciling them`);
  return parts.join(', ');
}
