import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import type { Triggers } from '@parley/triggers';
import { shareWork } from '../share-work';

/** Jobs of earlier versions name no tenant. They share the slots of one. */
const unknownTenant = 0;

/** Executes trigger runs, with a share of the process for each tenant. A run that another worker has claimed is left to it. */
export function createRunTriggers({ triggers, log }: { triggers: Triggers; log: Logger }) {
  const { run, ring, close } = shareWork({
    claimNext: (tenant) => triggers.claimDue(tenant),
    process: async (claimed, { signal }) => (await triggers.execute(claimed, signal)).claimNext,
    onError: (error) => log.warn({ err: error }, 'due trigger runs could not be executed'),
  });
  return {
    handle: ({ tenant, runId }: JobPayload<'run-triggers'>, context: JobContext): Promise<void> =>
      run(tenant ?? unknownTenant, () => triggers.claim(runId, tenant ?? null), context),
    ring,
    close,
  };
}
