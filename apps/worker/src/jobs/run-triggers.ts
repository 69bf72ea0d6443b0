import type { JobContext, JobPayload } from '@parley/redis';
import type { Triggers } from '@parley/triggers';

/** Executes one trigger run. Does nothing when its row is finished or claimed by another worker. */
export const createRunTriggers =
  ({ triggers }: { triggers: Triggers }) =>
  async ({ runId }: JobPayload<'run-triggers'>, { signal }: JobContext): Promise<void> => {
    await triggers.run(runId, signal);
  };
