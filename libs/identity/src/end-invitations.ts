import type { PersonRole } from '@parley/contracts';
import { type Queryable, type Tenant, column, statement } from '@parley/db';

const endOfPerson = statement(
  'end-invitations-of-person',
  `update invitations set revoked_at = now()
   where tenant = $tenant and invited_by = $userId and accepted_at is null and revoked_at is null and expires_at > now()
   returning id, role::text as role, email`,
  { id: column.text, role: column.oneOf<PersonRole>(), email: column.text.nullable },
);

/** Revokes the open invitations of a person who may not invite any more. Returns them. */
export async function endInvitationsOf(tx: Queryable, tenant: Tenant, userId: string) {
  return (await tx.query(tenant, endOfPerson, { userId })).rows;
}

/**
 * SQL: whether the author of the invitation `i` may still invite. The link of a command
 * is its operator's.
 */
export const authorMayInvite = `case
    when i.invited_by is not null then exists (
      select from memberships m join users u on u.id = m.user_id and u.deleted_at is null
      where m.tenant = i.tenant and m.user_id = i.invited_by and m.role = 'admin' and m.verified and m.deleted_at is null)
    when i.invited_by_key is not null then exists (
      select from api_keys k
      where k.tenant = i.tenant and k.id = i.invited_by_key and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))
    else true end`;
