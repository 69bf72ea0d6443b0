import type { PersonRole } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  type Tenant,
  column,
  listStatement,
  lockKey,
  newId,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import { isEmailProvedIn, shownEmail } from './email-proofs';
import { endInvitationsOf } from './end-invitations';
import { endSessionsWithoutMembership } from './sessions';
import { addTombstone } from './tombstones';

const memberRow = {
  /** Id of the person. */
  id: column.text,
  membershipId: column.text,
  email: column.text.nullable,
  isEmailProved: column.bool,
  name: column.text.nullable,
  role: column.oneOf<PersonRole>(),
  /** The membership's id at the identity provider; null for a person who was invited here. */
  externalId: column.text.nullable,
  createdAt: column.timestamptz,
  lastSeenAt: column.timestamptz.nullable,
};
export type Member = RowOf<typeof memberRow>;

const selectMembers = `select u.id, m.id as "membershipId", ${shownEmail} as email,
    ${isEmailProvedIn('m.tenant')} as "isEmailProved",
    nullif(concat_ws(' ', u.first_name, u.last_name), '') as name, m.role::text as role, m.external_id as "externalId",
    m.created_at as "createdAt", (select max(s.last_seen_at) from sessions s where s.user_id = u.id) as "lastSeenAt"
  from memberships m join users u on u.id = m.user_id left join passwords p on p.user_id = u.id
  where m.tenant = $tenant and m.verified and m.deleted_at is null`;

const membersOfTenant = listStatement(
  'list-members',
  `${selectMembers} and ($beforeAt::timestamptz is null or (m.created_at, m.id) < ($beforeAt, $beforeId::text))
   order by m.created_at desc, m.id desc limit $limit`,
  memberRow,
);

/**
 * The people of an organization, latest first. Memberships that came unsigned are left out:
 * they grant no right.
 */
export async function listMembers(
  db: Queryable,
  tenant: Tenant,
  page: Page,
): Promise<Paged<Member>> {
  const { rows } = await db.query(tenant, membersOfTenant, pageValues(page));
  return toPaged(rows, page, ({ createdAt, membershipId }) => ({
    at: createdAt,
    id: membershipId,
  }));
}

const member = statement('find-member', `${selectMembers} and u.id = $userId`, memberRow);

/** Finds a person of an organization by the person's id. */
export async function findMember(
  tx: Queryable,
  tenant: Tenant,
  userId: string,
): Promise<Member | null> {
  return (await tx.query(tenant, member, { userId })).rows[0] ?? null;
}

/**
 * Changes of an organization's members run one after the other, so that two at once cannot
 * remove the last admin.
 */
export const lockMembers = async (tx: Queryable, tenant: Tenant): Promise<void> =>
  void (await tx.query(tenant, lockKey, { key: `members:${tenant.tenant}` }));

const otherAdmin = statement(
  'other-admin',
  `select from memberships where tenant = $tenant and user_id <> $userId and role = 'admin' and verified
     and deleted_at is null limit 1`,
);

/** Whether an organization has an admin besides this person. */
export async function hasOtherAdmin(
  tx: Queryable,
  tenant: Tenant,
  userId: string,
): Promise<boolean> {
  return (await tx.query(tenant, otherAdmin, { userId })).rowCount === 1;
}

const changeRole = statement(
  'change-member-role',
  `update memberships set role = $role::"MembershipRole", updated_at = now() where tenant = $tenant
     and user_id = $userId`,
);

/**
 * Changes a role. The open invitations of a person who is no admin any more end, and are returned.
 */
export async function changeMemberRole(
  tx: Queryable,
  tenant: Tenant,
  userId: string,
  role: PersonRole,
) {
  await tx.query(tenant, changeRole, { userId, role });
  return role === 'admin' ? [] : endInvitationsOf(tx, tenant, userId);
}

const remove = statement(
  'remove-member',
  'delete from memberships where tenant = $tenant and user_id = $id',
);

/**
 * Removes a person from an organization. Late events of the identity provider do not restore the
 * membership. The person's open invitations end, and are returned.
 */
export async function removeMember(tx: Queryable, tenant: Tenant, { id, externalId }: Member) {
  await tx.query(tenant, remove, { id });
  if (externalId !== null) await addTombstone(tx, 'membership', externalId, true);
  await endSessionsWithoutMembership(tx, id);
  return endInvitationsOf(tx, tenant, id);
}

const add = statement(
  'add-member',
  `insert into memberships as m (id, tenant, user_id, role, verified, updated_at)
   values ($id, $tenant, $userId, $role::"MembershipRole", true, now())
   on conflict (tenant, user_id) do update
     set verified = true, updated_at = excluded.updated_at,
         role = case when m.verified and m.role = 'admin' then m.role else excluded.role end`,
);

/** Makes a person a member. One who is an admin stays so. */
export async function addMember(
  tx: Queryable,
  tenant: Tenant,
  userId: string,
  role: PersonRole,
): Promise<void> {
  await tx.query(tenant, add, { id: newId('member'), userId, role });
}

const insertUser = statement(
  'create-user',
  `insert into users (id, email, first_name, verified, updated_at) values ($id, $email, $name, true, now())`,
);

/** Creates a person who does not come from the identity provider's webhook. */
export async function createUser(
  tx: Queryable,
  { email, name }: { email: string | null; name: string | null },
): Promise<string> {
  const id = newId('user');
  await tx.acrossTenants('session look-up', insertUser, { id, email, name });
  return id;
}
