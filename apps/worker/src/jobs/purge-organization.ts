import type { Db } from '@parley/db';
import type { JobContext, JobPayload } from '@parley/queues';
import type { Logger } from '@parley/service';
import { beginPurge } from '../purge/begin-purge';
import { purgeOrganization } from '../purge/purge-organization';

/** Deletes an organization with all its data when the time has come, and says in the log what was deleted. */
export const createPurgeOrganization =
  ({ db, log }: { db: Db; log: Logger }) =>
  async ({ organizationId }: JobPayload<'purge-organization'>, { signal }: JobContext): Promise<void> => {
    const purge = await beginPurge(db.pool, organizationId);
    if (purge === null) return;
    const finished = await purgeOrganization(db.pool, organizationId, signal);
    if (!finished) throw signal.reason;
    if (purge.finishedAt !== null) return;
    const { rows: reports } = await db.pool.query<{ report: object }>(
      'select report from organization_purges where organization_id = $1',
      [organizationId],
    );
    log.info({ organizationId, deleted: reports[0]?.report }, 'an organization was deleted with all its data');
  };
