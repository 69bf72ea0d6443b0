import type { JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';
import type { ObserveJob } from '../observe-jobs';
import { shareWork } from '../share-work';

/** Maximum number of runs that one statement claims. */
const largestBatch = 24;

/**
 * Executes trigger runs, with a share of the process for each tenant. The job reports that runs of
 * a tenant are due.
 */
export function createRunTriggers({
  triggers,
  log,
  observe,
}: {
  triggers: Triggers;
  log: Logger;
  observe: ObserveJob;
}) {
  const { wake, isBusy, close } = shareWork({
    claim: (tenant, limit) => triggers.claimDue(tenant, limit),
    largestBatch,
    async process(run, { signal }) {
      const { id: jobId, attempts: attempt, requestId } = run;
      const context = {
        jobId,
        attempt,
        requestId: requestId ?? undefined,
        isLastAttempt: true,
        signal,
      };
      try {
        await observe('run-triggers', context, () => triggers.execute(run, signal));
        return null;
      } finally {
        // Runs that waited for this one may be claimed now.
        wake(run.scope.tenant);
      }
    },
    onError: (error) => log.warn({ err: error }, 'due trigger runs could not be executed'),
  });
  return {
    handle: async ({ tenant }: JobPayload<'run-triggers'>): Promise<void> => wake(tenant),
    wake,
    isBusy,
    close,
  };
}
