import { type Queryable, newId, statement } from '@parley/db';
import type { Change } from './change';
import { findByExternalId } from './organizations';
import type { Source } from './precedence';
import { addTombstone } from './tombstones';

/** Minimum delay of an unsigned deletion, so that a person can notice and stop it. */
const minUnsignedDays = 1;

const disable = statement(
  'disable-organization-by-external-id',
  'update organizations set deleted_at = coalesce(deleted_at, now()), updated_at = now() where external_id = $externalId',
);

/**
 * A purge that was stopped is planned again only by a signed delivery or one
 * received after the stop.
 */
const planPurge = statement(
  'plan-purge',
  `insert into organization_purges as p (id, organization_id, tenant, external_id, slug, signed, run_at, created_at)
   select $id, o.id, o.no, $externalId, $slug, $isSigned, now() + make_interval(secs => $days::float8 * 86400), now()
   from organizations o where o.id = $organizationId
   on conflict (organization_id) do update
     set slug = excluded.slug, signed = excluded.signed, run_at = excluded.run_at, created_at = excluded.created_at,
         stopped_at = null
     where not p.signed and p.started_at is null and (excluded.signed or p.stopped_at < $receivedAt)`,
);

/**
 * Plans the purge of an organization. A signed deletion disables the organization immediately and
 * replaces an unsigned one. An unsigned deletion has no effect until its purge begins
 * (begin-purge.ts).
 */
export async function deleteOrganization(
  tx: Queryable,
  externalId: string,
  { graceDays, ...source }: Source & { graceDays: number },
): Promise<Change> {
  const { isSigned, receivedAt } = source;
  if (isSigned) {
    await addTombstone(tx, 'organization', externalId, true);
    await tx.acrossTenants('inbound webhook', disable, { externalId });
  }
  const organization = await findByExternalId(tx, externalId);
  if (organization === undefined)
    return isSigned ? {} : { ignored: 'the organization is not known here' };
  const { id, slug } = organization;
  const days = isSigned ? graceDays : Math.max(graceDays, minUnsignedDays);
  const values = {
    id: newId('purge'),
    organizationId: id,
    externalId,
    slug,
    isSigned,
    days,
    receivedAt,
  };
  const { rowCount } = await tx.query({ organizationId: id }, planPurge, values);
  if (isSigned || rowCount === 1) return { organizationId: id };
  return {
    organizationId: id,
    ignored: 'a purge of the organization is planned already, or was stopped',
  };
}
