import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Notice, Problem } from '../../parts/states';
import { paymentsCatalog } from './texts';

/** Asks the provider about all pending payments, as the worker does for older ones. */
export function useReconcile() {
  const payments = useTexts(paymentsCatalog);
  const { api } = useWorkspace();
  const run = useChange(
    () => api.reconcilePayments({ olderThanMinutes: 0 }),
    'payments',
    'payment',
    'health',
  );
  const button = (
    <Button isBusy={run.isPending} onClick={() => run.mutate()}>
      {payments.reconcilePending}
    </Button>
  );
  return { ...run, button };
}

const shown = ['paid', 'failed', 'unchanged', 'mismatched', 'errors'] as const;

/** What the provider answered about the pending payments. */
export function ReconcileReport({
  run,
}: {
  run: Pick<ReturnType<typeof useReconcile>, 'data' | 'error' | 'isPending'>;
}) {
  const payments = useTexts(paymentsCatalog);
  const { data, error, isPending } = run;
  if (!isPending && !error && data === undefined) return null;
  return (
    <div className="shrink-0 border-b border-n5 px-4 py-2" role="status">
      {isPending ? <p className="text-n11">{payments.reconciling}</p> : <Problem error={error} />}
      {!isPending && data && (
        <>
          <p className="tabular-nums">
            {[
              payments.report(formatNumber(data.asked)),
              ...shown
                .filter((name) => data[name] > 0)
                .map((name) => payments.counts[name](formatNumber(data[name]))),
            ].join(' · ')}
          </p>
          {!data.isComplete && <p className="text-waiting">{payments.incomplete}</p>}
          {data.problems.map((problem) => (
            <Notice key={problem} kind="failed">
              {problem}
            </Notice>
          ))}
        </>
      )}
    </div>
  );
}
