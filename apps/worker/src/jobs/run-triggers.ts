import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';
import { shareWork } from '../share-work';

/** Executes trigger runs, with a share of the process for each tenant. A run that another worker has claimed is left to it. */
export function createRunTriggers({ triggers, log }: { triggers: Triggers; log: Logger }) {
  const { run, wake, close } = shareWork({
    claimNext: (tenant) => triggers.claimDue(tenant),
    process: async (claimed, { signal }) => (await triggers.execute(claimed, signal)).claimNext,
    onError: (error) => log.warn({ err: error }, 'due trigger runs could not be executed'),
  });
  return {
    handle: ({ tenant, runId }: JobPayload<'run-triggers'>, context: JobContext): Promise<void> =>
      run(tenant, () => triggers.claim(runId, tenant ?? null), context),
    wake,
    close,
  };
}
