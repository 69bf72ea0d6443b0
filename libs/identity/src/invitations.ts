import type { PersonRole } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  type Tenant,
  column,
  listStatement,
  newId,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import { hashOfToken, newToken } from './sessions';

const invitationRow = {
  id: column.text,
  role: column.oneOf<PersonRole>(),
  email: column.text.nullable,
  invitedBy: column.text.nullable,
  createdAt: column.timestamptz,
  expiresAt: column.timestamptz,
  acceptedAt: column.timestamptz.nullable,
  acceptedBy: column.text.nullable,
  revokedAt: column.timestamptz.nullable,
};
export type Invitation = RowOf<typeof invitationRow>;

const columns = `i.id, i.role::text as role, i.email, i.invited_by as "invitedBy", i.created_at as "createdAt",
  i.expires_at as "expiresAt", i.accepted_at as "acceptedAt", i.accepted_by as "acceptedBy", i.revoked_at as "revokedAt"`;

const insert = statement(
  'create-invitation',
  `insert into invitations as i (id, tenant, role, email, hash, invited_by, expires_at)
   values ($1, $2, $3::"MembershipRole", $4, $5, $6, now() + make_interval(mins => $7))
   returning ${columns}`,
  invitationRow,
);

export interface NewInvitation {
  role: PersonRole;
  email?: string | null;
  /** Id of the inviting person. */
  invitedBy?: string | null;
  /** How long its link works. */
  minutes: number;
}

/** A week: an e-mail may wait for a holiday to end. */
export const invitationMinutes = 7 * 24 * 60;
/** The link of the first administrator is printed in a terminal and used at once. */
export const firstAdminMinutes = 30;

/** Creates an invitation. Only the hash of its token is stored. */
export async function createInvitation(
  tx: Queryable,
  tenant: Tenant,
  { role, email, invitedBy, minutes }: NewInvitation,
): Promise<{ invitation: Invitation; token: string }> {
  const token = newToken();
  const values = [newId('invite'), tenant.tenant, role, email ?? null, hashOfToken(token), invitedBy ?? null, minutes];
  return { invitation: (await tx.query(tenant, insert, values)).rows[0]!, token };
}

/** The address of the page that accepts an invitation. The token is behind #, so browsers send it to no server and no log has it. */
export const invitationLink = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/console/#/join/${token}`;

const invitationsOfTenant = listStatement(
  'list-invitations',
  `select ${columns} from invitations i
   where i.tenant = $1 and ($2::timestamptz is null or (i.created_at, i.id) < ($2, $3::text))
   order by i.created_at desc, i.id desc limit $4`,
  invitationRow,
);

/** The invitations of an organization, latest first. */
export async function listInvitations(db: Queryable, tenant: Tenant, page: Page): Promise<Paged<Invitation>> {
  const { rows } = await db.query(tenant, invitationsOfTenant, [tenant.tenant, ...pageValues(page)]);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const revoke = statement(
  'revoke-invitation',
  `update invitations i set revoked_at = case when i.accepted_at is null then coalesce(i.revoked_at, now()) end
   where i.tenant = $1 and i.id = $2 returning ${columns}`,
  invitationRow,
);

/** Revokes an invitation that is not accepted. Returns it; null when there is none. */
export async function revokeInvitation(tx: Queryable, tenant: Tenant, id: string): Promise<Invitation | null> {
  return (await tx.query(tenant, revoke, [tenant.tenant, id])).rows[0] ?? null;
}

const revokeUnused = statement(
  'revoke-unused-first-links',
  `update invitations set revoked_at = now()
   where tenant = $1 and role = 'admin' and invited_by is null and email is null and accepted_at is null
     and revoked_at is null and expires_at > now()`,
);

/** Revokes links of the first administrator that are not used: the newest is the one that works. */
export async function revokeFirstLinks(tx: Queryable, tenant: Tenant): Promise<void> {
  await tx.query(tenant, revokeUnused, [tenant.tenant]);
}

const byToken = statement(
  'invitation-by-token',
  `select ${columns}, o.no as tenant, o.id as "organizationId", o.slug, o.name as "organizationName",
     i.accepted_at is null and i.revoked_at is null and i.expires_at > now() as "isOpen"
   from invitations i join organizations o on o.no = i.tenant and o.deleted_at is null where i.hash = $1
   for update of i`,
  {
    ...invitationRow,
    tenant: column.int4,
    organizationId: column.text,
    slug: column.text,
    organizationName: column.text,
    isOpen: column.bool,
  },
);

/** Finds an invitation by the token of its link, and locks it until the end of the transaction. */
export async function lockInvitation(tx: Queryable, token: string) {
  return (await tx.acrossTenants('session look-up', byToken, [hashOfToken(token)])).rows[0] ?? null;
}

const accept = statement(
  'accept-invitation',
  'update invitations set accepted_at = now(), accepted_by = $3 where tenant = $1 and id = $2',
);

export async function acceptInvitation(tx: Queryable, tenant: Tenant, id: string, userId: string): Promise<void> {
  await tx.query(tenant, accept, [tenant.tenant, id, userId]);
}
