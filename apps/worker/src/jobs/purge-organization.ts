import type { Db } from '@parley/db';
import type { JobContext, JobPayload } from '@parley/queues';
import type { Logger } from '@parley/service';
import { purgeOrganization } from '../purge/purge-organization';

/** Deletes an organization with all its data when the time has come, and says in the log what was deleted. */
export const createPurgeOrganization =
  ({ db, log }: { db: Db; log: Logger }) =>
  async ({ organizationId }: JobPayload<'purge-organization'>, { signal }: JobContext): Promise<void> => {
    const { rows } = await db.pool.query<{ finished_at: Date | null }>(
      'select finished_at from organization_purges where organization_id = $1 and run_at <= now()',
      [organizationId],
    );
    if (rows[0] === undefined) return;
    const finished = await purgeOrganization(db.pool, organizationId, signal);
    if (!finished) throw signal.reason;
    if (rows[0].finished_at !== null) return;
    const { rows: reports } = await db.pool.query<{ report: object }>(
      'select report from organization_purges where organization_id = $1',
      [organizationId],
    );
    log.info({ organizationId, deleted: reports[0]?.report }, 'an organization was deleted with all its data');
  };
