import type { Db } from '@parley/db';
import type { JobContext, Queues } from '@parley/queues';

/**
 * Sends the jobs of purges that are due, and for a while after their end once more: a turn that was running meanwhile may
 * have written something yet.
 */
export const createSweepPurges =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    const { rows } = await db.pool.query<{ organizationId: string }>(
      `select organization_id as "organizationId" from organization_purges
       where (finished_at is null and stopped_at is null and run_at <= now()) or finished_at > now() - interval '10 minutes'`,
    );
    for (const payload of rows) await queues.enqueue('purge-organization', payload, { requestId });
  };
