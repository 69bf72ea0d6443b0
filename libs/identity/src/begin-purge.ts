import { type Db, column, statement } from '@parley/db';
import { lockIdentities } from './lock-identities';
import { addTombstone } from './tombstones';

const duePurge = statement(
  'due-purge',
  `select tenant, external_id as "externalId", started_at as "startedAt", finished_at as "finishedAt"
   from organization_purges where organization_id = $organizationId and run_at <= now() and stopped_at is null`,
  {
    tenant: column.int4,
    externalId: column.text.nullable,
    startedAt: column.timestamptz.nullable,
    finishedAt: column.timestamptz.nullable,
  },
);

const startPurge = statement(
  'start-purge',
  `update organization_purges set started_at = now()
   where organization_id = $organizationId and run_at <= now() and stopped_at is null and started_at is null
     returning signed`,
  { signed: column.bool },
);

const disable = statement(
  'disable-organization',
  'update organizations set deleted_at = now(), updated_at = now() where id = $organizationId',
);

/**
 * Begins a purge that is due, or continues one that has begun; null when it is not due or was
 * stopped. A purge that has begun cannot be stopped. If an unsigned delivery requested the
 * deletion, the organization is disabled here, not earlier.
 */
export const beginPurge = (db: Db, organizationId: string) =>
  db.transaction(async (tx) => {
    const { rows: known } = await tx.query({ organizationId }, duePurge, { organizationId });
    if (known[0] === undefined) return null;
    const { tenant, externalId, startedAt, finishedAt } = known[0];
    if (startedAt !== null) return { tenant, finishedAt };
    if (externalId !== null) await lockIdentities(tx, [externalId]);
    const { rows } = await tx.query({ organizationId }, startPurge, { organizationId });
    if (rows[0] === undefined) return null;
    if (!rows[0].signed) {
      if (externalId !== null) await addTombstone(tx, 'organization', externalId, false);
      await tx.query({ organizationId }, disable, { organizationId });
    }
    return { tenant, finishedAt };
  });
