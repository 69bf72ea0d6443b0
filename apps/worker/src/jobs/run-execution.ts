import type { Agents, ClaimedExecution } from '@parley/agents';
import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import { shareWork } from '../share-work';

/**
 * Runs background executions, with a share of the process for each tenant, and those of one thread
 * one after the other.
 */
export function createRunExecution({ agents, log }: { agents: Agents; log: Logger }) {
  const { run, close } = shareWork<ClaimedExecution>({
    async claim(tenant) {
      const due = await agents.claimExecution(tenant, null);
      return due === null ? [] : [due];
    },
    largestBatch: 1,
    async process(claimed, { signal }) {
      await agents.runExecution(claimed, signal);
      const { tenant, threadId } = claimed;
      return () => agents.claimExecution(tenant, { threadId });
    },
    onError: (error) => log.warn({ err: error }, 'background executions could not be run'),
  });
  return {
    handle: (
      { tenant, executionId: id }: JobPayload<'run-execution'>,
      context: JobContext,
    ): Promise<void> => run(tenant, () => agents.claimExecution(tenant, { id }), context),
    close,
  };
}
