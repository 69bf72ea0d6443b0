import { type JsonObject, objectAt, textAt } from '@parley/contracts';
import { type Queryable, column, newId, statement } from '@parley/db';
import type { Change } from './change';
import { isSignInEmailProvedIn, shownEmail } from './email-proofs';
import { endInvitationsOf } from './end-invitations';
import { lockMembers } from './members';
import { findByExternalId } from './organizations';
import { organizationOfMembership } from './put-organization';
import { type Source, supersededReason, supersedes } from './precedence';
import { endSessionsWithoutMembership } from './sessions';
import { addTombstone, isDeleted } from './tombstones';
import { userOfMembership } from './users';

/** Converts the identity provider's role (docs/reference/webhooks.md#organization-roles). */
const roleOf = (role: string | undefined): 'admin' | 'member' =>
  role === 'org:admin' || role === 'org:owner' ? 'admin' : 'member';

/** Ids are unique. An unsigned event can contain the id of another user's membership. */
const holdersElsewhere =
  'from memberships where external_id = $externalId and (tenant, user_id) <> ($tenant, $userId)';
const removeUnverifiedHolder = statement(
  'delete-unverified-holders',
  `delete ${holdersElsewhere} and not verified`,
);
const holderElsewhere = statement('membership-id-elsewhere', `select ${holdersElsewhere}`);

const put = statement(
  'put-membership',
  `insert into memberships as m (id, tenant, user_id, role, external_id, external_updated_at, verified, updated_at)
   values ($id, $tenant, $userId, $role::"MembershipRole", $externalId, $time, $isSigned, now())
   on conflict (tenant, user_id) do update
     set role = excluded.role, external_id = excluded.external_id,
         external_updated_at = excluded.external_updated_at, verified = excluded.verified, updated_at = excluded.updated_at
     where ${supersedes(
       'm',
       `m.external_updated_at is null or m.external_updated_at < excluded.external_updated_at
        or (m.external_updated_at = excluded.external_updated_at and m.role = 'admin')`,
     )}
   returning xmax = 0 as is_new`,
  { is_new: column.bool },
);

/**
 * Creates a membership or changes its role, unless a newer or a signed state exists or the
 * membership was deleted. Of two states with the same time the one with the lesser role is kept,
 * regardless of the order of arrival.
 */
export async function putMembership(
  tx: Queryable,
  data: JsonObject,
  time: Date,
  source: Source,
): Promise<Change> {
  const externalId = textAt(data.id) ?? '';
  const person = objectAt(data.public_user_data);
  const organization = objectAt(data.organization);
  if (textAt(person.user_id) === undefined || textAt(organization.id) === undefined)
    throw new Error('The membership has no user id or no organization id');
  if (await isDeleted(tx, 'membership', externalId, source))
    return {
      organizationId: (await findByExternalId(tx, textAt(organization.id)))?.id,
      ignored: 'the membership was deleted',
    };
  const owner = await organizationOfMembership(tx, organization, time, source);
  const { organizationId, tenant } = owner;
  if (tenant === undefined) return owner;
  const userId = await userOfMembership(tx, person, source);
  const values = { externalId, tenant, userId };
  if (source.isSigned) await tx.acrossTenants('inbound webhook', removeUnverifiedHolder, values);
  else if ((await tx.acrossTenants('inbound webhook', holderElsewhere, values)).rowCount === 1)
    return { organizationId, ignored: 'the id of the membership belongs to another one' };
  const role = roleOf(textAt(data.role));
  await lockMembers(tx, { tenant });
  const state = { id: newId('member'), userId, role, externalId, time, isSigned: source.isSigned };
  const { rows } = await tx.query({ tenant }, put, state);
  if (rows[0] === undefined)
    return { organizationId, ignored: supersededReason('membership', source) };
  if (role !== 'admin') await endInvitationsOf(tx, { tenant }, userId);
  return { organizationId, isNew: rows[0].is_new };
}

const remove = statement(
  'delete-membership',
  'delete from memberships where external_id = $externalId and ($isSigned or not verified) returning user_id as "userId", tenant',
  { userId: column.text, tenant: column.int4 },
);
const tenantOfMembership = statement(
  'tenant-of-membership',
  'select tenant from memberships where external_id = $externalId',
  {
    tenant: column.int4,
  },
);
const keptMembership = statement(
  'kept-membership',
  'select from memberships where external_id = $externalId',
);

/**
 * Deletes a membership permanently: a later membership of the same user has another id. An unsigned
 * event does not delete a verified membership, and leaves no tombstone of an unknown one, because
 * forged events could fill the table.
 */
export async function deleteMembership(
  tx: Queryable,
  data: JsonObject,
  source: Source,
): Promise<Change> {
  const { isSigned } = source;
  const externalId = textAt(data.id) ?? '';
  const organizationId = (await findByExternalId(tx, textAt(objectAt(data.organization).id)))?.id;
  const { rows: known } = await tx.acrossTenants('inbound webhook', tenantOfMembership, {
    externalId,
  });
  for (const tenant of known) await lockMembers(tx, tenant);
  const { rows: deleted } = await tx.acrossTenants('inbound webhook', remove, {
    externalId,
    isSigned,
  });
  for (const { userId, tenant } of deleted) {
    await endSessionsWithoutMembership(tx, userId);
    await endInvitationsOf(tx, { tenant }, userId);
  }
  if (deleted.length === 0 && !isSigned) {
    const { rowCount: kept } = await tx.acrossTenants('inbound webhook', keptMembership, {
      externalId,
    });
    const ignored =
      kept === 1 ? supersededReason('membership', source) : 'the membership is not known here';
    return { organizationId, ignored };
  }
  await addTombstone(tx, 'membership', externalId, isSigned);
  return { organizationId };
}

const memberEmails = statement(
  'list-member-emails',
  `select ${shownEmail} as email
   from memberships m join users u on u.id = m.user_id left join passwords p on p.user_id = u.id
   where m.tenant = $tenant and m.verified and m.deleted_at is null and u.deleted_at is null
     and case when p.email is null then u.email is not null else ${isSignInEmailProvedIn('m.tenant')} end
   order by 1 limit 50`,
  { email: column.text },
);

/**
 * The e-mail addresses of the members of an organization, at most 50. One that a person only typed
 * may be of a outsider.
 */
export const listMemberEmails = async (db: Queryable, tenant: number): Promise<string[]> =>
  (await db.query({ tenant }, memberEmails)).rows.map(({ email }) => email);
