import { createHash } from 'node:crypto';
import { type JsonObject, slugSchema, textAt } from '@parley/contracts';
import { type Queryable, column, newId, statement } from '@parley/db';
import type { Change } from './change';
import { findByExternalId } from './organizations';
import { type Source, supersededReason, supersedes } from './precedence';
import { stopDisprovedPurge } from './purges';
import { isDeleted } from './tombstones';

const put = statement(
  'put-organization',
  `insert into organizations (id, external_id, slug, name, external_updated_at, verified, updated_at)
   values ($id, $externalId, $slug, $name, $time, $isSigned, now())
   on conflict (external_id) do update
     set slug = excluded.slug, name = excluded.name, external_updated_at = excluded.external_updated_at,
         verified = excluded.verified, updated_at = excluded.updated_at
     where ${supersedes(
       'organizations',
       `organizations.external_updated_at is null
        or organizations.external_updated_at <= excluded.external_updated_at`,
     )}
   returning id, no as tenant`,
  { id: column.text, tenant: column.int4 },
);

/**
 * Creates or updates an organization, unless a newer or a signed state exists or it was deleted. A
 * signed event overrides an unsigned deletion: it stops a purge that has not begun, and is
 * postponed until the end of a purge that has begun.
 */
export async function putOrganization(
  tx: Queryable,
  data: JsonObject,
  time: Date,
  source: Source,
): Promise<Change> {
  const externalId = textAt(data.id) ?? '';
  const known = await findByExternalId(tx, externalId);
  const { id: organizationId, tenant } = known ?? {};
  if (await isDeleted(tx, 'organization', externalId, source))
    return { organizationId, ignored: 'the organization was deleted' };
  if (known?.isDeleting)
    return {
      postponed:
        'the purge of the organization, which an unsigned delivery requested, is not finished',
    };
  const slug = await freeSlug(tx, externalId, {
    given: textAt(data.slug),
    known: known?.slug,
    name: data.name,
  });
  const values = {
    id: newId('org'),
    externalId,
    slug,
    name: textAt(data.name) ?? slug,
    time,
    isSigned: source.isSigned,
  };
  const { rows } = await tx.acrossTenants('inbound webhook', put, values);
  if (rows[0] === undefined)
    return { organizationId, tenant, ignored: supersededReason('organization', source) };
  const knownAt = source.happenedAt !== null && source.happenedAt > time ? source.happenedAt : time;
  if (source.isSigned) await stopDisprovedPurge(tx, rows[0].id, knownAt);
  return { organizationId: rows[0].id, tenant: rows[0].tenant, isNew: known === undefined };
}

/** Creates or updates the organization of a membership from the data in the membership's event. */
export function organizationOfMembership(
  tx: Queryable,
  data: JsonObject,
  time: Date,
  source: Source,
): Promise<Change> {
  const { updated_at: own } = data;
  return putOrganization(tx, data, typeof own === 'number' ? new Date(own) : time, source);
}

const slugElsewhere = statement(
  'slug-elsewhere',
  'select from organizations where slug = $wanted and external_id is distinct from $externalId',
);

/**
 * The provider's slug, else the current one, else one derived from the name. A suffix is added if
 * another organization has it.
 */
async function freeSlug(
  tx: Queryable,
  externalId: string,
  { given, known, name }: { given?: string; known?: string; name: unknown },
): Promise<string> {
  const valid = given !== undefined && slugSchema.safeParse(given).success ? given : undefined;
  if (valid === undefined && known !== undefined) return known;
  const wanted = valid ?? slugOf(typeof name === 'string' ? name : '');
  const { rowCount } = await tx.acrossTenants('inbound webhook', slugElsewhere, {
    wanted,
    externalId,
  });
  if (rowCount === 0) return wanted;
  return `${wanted.slice(0, 90)}-${createHash('sha256').update(externalId).digest('hex').slice(0, 8)}`;
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  return (
    plain
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 90) || 'organization'
  );
}
