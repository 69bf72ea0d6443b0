import type { JobContext, JobPayload } from '@parley/redis';
import type { Triggers } from '@parley/triggers';

/** Executes one trigger run. It may be done already, or be another worker's: the row decides. */
export const createRunTriggers =
  ({ triggers }: { triggers: Triggers }) =>
  async ({ runId }: JobPayload<'run-triggers'>, { signal }: JobContext): Promise<void> => {
    await triggers.run(runId, signal);
  };
