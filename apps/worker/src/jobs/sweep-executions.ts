import { findDueExecutions } from '@parley/agents';
import type { Db } from '@parley/db';
import type { JobContext, Queues } from '@parley/redis';

const limit = 100;

/**
 * Enqueues jobs for overdue background executions: their job was lost, or their process was killed.
 */
export const createSweepExecutions =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const { tenant, id: executionId } of await findDueExecutions(db, limit))
      await queues.enqueue('run-execution', { tenant, executionId }, { requestId });
  };
