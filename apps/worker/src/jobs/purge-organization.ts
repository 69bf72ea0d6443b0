import type { Db } from '@parley/db';
import { beginPurge } from '@parley/identity';
import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import { purgeOrganization } from '../purge/purge-organization';

/**
 * Deletes an organization with all its data once its purge is due, and logs the number
 * of deleted rows.
 */
export const createPurgeOrganization =
  ({ db, log }: { db: Db; log: Logger }) =>
  async (
    { organizationId }: JobPayload<'purge-organization'>,
    { signal }: JobContext,
  ): Promise<void> => {
    const purge = await beginPurge(db, organizationId);
    if (purge === null) return;
    const deleted = await purgeOrganization(db, { organizationId, tenant: purge.tenant }, signal);
    if (deleted === null) throw signal.reason;
    if (purge.finishedAt === null)
      log.info({ organizationId, deleted }, 'an organization was deleted with all its data');
  };
