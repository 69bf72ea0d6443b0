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
import { authorMayInvite } from './end-invitations';
import { lockMembers } from './members';
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
  /** Whether who made it may still invite. */
  isOfAdmin: column.bool,
};
export type Invitation = RowOf<typeof invitationRow>;

const columns = `i.id, i.role::text as role, i.email, i.invited_by as "invitedBy", i.created_at as "createdAt",
  i.expires_at as "expiresAt", i.accepted_at as "acceptedAt", i.accepted_by as "acceptedBy", i.revoked_at as "revokedAt",
  ${authorMayInvite} as "isOfAdmin"`;

const insert = statement(
  'create-invitation',
  `insert into invitations as i
     (id, tenant, role, email, hash, expires_at, invited_by, invited_by_key, is_by_command, mail_hash, mail_proof_tenant)
   values ($id, $tenant, $role::"MembershipRole", $email, $hash, now() + make_interval(mins => $minutes), $invitedBy,
     $invitedByKey, $isByCommand, $mailHash, $proofTenant)
   returning ${columns}`,
  invitationRow,
);

export interface NewInvitation {
  role: PersonRole;
  email?: string | null;
  /** Who invites; default: a command. */
  author?: { type: 'person' | 'api_key'; id: string } | { type: 'command' };
  /** The account that e-mails the link to `email`. */
  mail?: { proofTenant: number | null };
  /** How long its link works. */
  minutes: number;
}

/** A week: an e-mail may wait for a holiday to end. */
export const invitationMinutes = 7 * 24 * 60;
/** The link of the first administrator is printed in a terminal and used at once. */
export const firstAdminMinutes = 30;

/**
 * Creates an invitation. Only hashes of its tokens are stored. `mailToken`: the token with a second
 * half, which is for the e-mail alone. Admins see the first half, so only the second shows that a
 * person reads the mail of `email`.
 */
export async function createInvitation(
  tx: Queryable,
  tenant: Tenant,
  { role, email, author = { type: 'command' }, mail, minutes }: NewInvitation,
): Promise<{ invitation: Invitation; token: string; mailToken: string }> {
  const [token, secret] = [newToken(), newToken()];
  const { rows } = await tx.query(tenant, insert, {
    id: newId('invite'),
    role,
    email: email ?? null,
    hash: hashOfToken(token),
    minutes,
    invitedBy: author.type === 'person' ? author.id : null,
    invitedByKey: author.type === 'api_key' ? author.id : null,
    isByCommand: author.type === 'command',
    mailHash: mail === undefined ? null : hashOfToken(secret),
    proofTenant: mail?.proofTenant ?? null,
  });
  return { invitation: rows[0]!, token, mailToken: token + secret };
}

/**
 * The address of the page that accepts an invitation. The token is behind #, so browsers send it to
 * no server and no log has it.
 */
export const invitationLink = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/console/#/join/${token}`;

const invitationsOfTenant = listStatement(
  'list-invitations',
  `select ${columns} from invitations i
   where i.tenant = $tenant and ($beforeAt::timestamptz is null or (i.created_at, i.id) < ($beforeAt, $beforeId::text))
   order by i.created_at desc, i.id desc limit $limit`,
  invitationRow,
);

/** The invitations of an organization, latest first. */
export async function listInvitations(
  db: Queryable,
  tenant: Tenant,
  page: Page,
): Promise<Paged<Invitation>> {
  const { rows } = await db.query(tenant, invitationsOfTenant, pageValues(page));
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const revoke = statement(
  'revoke-invitation',
  `update invitations i set revoked_at = case when i.accepted_at is null then coalesce(i.revoked_at, now()) end
   where i.tenant = $tenant and i.id = $id returning ${columns}`,
  invitationRow,
);

/** Revokes an invitation that is not accepted. Returns it; null when there is none. */
export async function revokeInvitation(
  tx: Queryable,
  tenant: Tenant,
  id: string,
): Promise<Invitation | null> {
  return (await tx.query(tenant, revoke, { id })).rows[0] ?? null;
}

const revokeUnused = statement(
  'revoke-unused-first-links',
  `update invitations set revoked_at = now()
   where tenant = $tenant and role = 'admin' and invited_by is null and invited_by_key is null and email is null
     and accepted_at is null
     and revoked_at is null and expires_at > now()`,
);

/** Revokes links of the first administrator that are not used: the newest is the one that works. */
export async function revokeFirstLinks(tx: Queryable, tenant: Tenant): Promise<void> {
  await tx.query(tenant, revokeUnused);
}

const tenantByToken = statement(
  'tenant-of-invitation',
  'select tenant from invitations where hash = $hash',
  {
    tenant: column.int4,
  },
);

const byToken = statement(
  'invitation-by-token',
  `select ${columns}, o.no as tenant, o.id as "organizationId", o.slug, o.name as "organizationName",
     i.is_by_command as "isByCommand", i.mail_proof_tenant as "mailProofTenant",
       coalesce(i.mail_hash = $mailHash, false) as "isMailed",
     i.accepted_at is null and i.revoked_at is null and i.expires_at > now() as "isUnused"
   from invitations i join organizations o on o.no = i.tenant and o.deleted_at is null where i.hash = $hash
   for update of i`,
  {
    ...invitationRow,
    tenant: column.int4,
    organizationId: column.text,
    slug: column.text,
    organizationName: column.text,
    isByCommand: column.bool,
    mailProofTenant: column.int4.nullable,
    /** The token is the one of the e-mail. */
    isMailed: column.bool,
    isUnused: column.bool,
  },
);

/** Length of the part of a token that admins see. */
const tokenChars = newToken().length;

/**
 * Finds an invitation by the token of its link. It and the members of its organization are
 * locked until the end of the transaction, so the author cannot lose the right to invite before
 * the link is used.
 */
export async function lockInvitation(tx: Queryable, token: string) {
  const [hash, mailHash] = [
    hashOfToken(token.slice(0, tokenChars)),
    hashOfToken(token.slice(tokenChars)),
  ];
  const { rows: known } = await tx.acrossTenants('session look-up', tenantByToken, { hash });
  if (known[0] === undefined) return null;
  await lockMembers(tx, known[0]);
  const found = (await tx.acrossTenants('session look-up', byToken, { hash, mailHash })).rows[0];
  return found === undefined ? null : { ...found, isOpen: found.isUnused && found.isOfAdmin };
}

const accept = statement(
  'accept-invitation',
  'update invitations set accepted_at = now(), accepted_by = $userId where tenant = $tenant and id = $id',
);

export async function acceptInvitation(
  tx: Queryable,
  tenant: Tenant,
  id: string,
  userId: string,
): Promise<void> {
  await tx.query(tenant, accept, { id, userId });
}
