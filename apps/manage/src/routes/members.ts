import type { IncomingMessage } from 'node:http';
import type { SecretMail } from '@parley/channels';
import type { Db, Queryable } from '@parley/db';
import {
  type Invitation,
  type Member,
  type TokenLookUp,
  acceptInvitation,
  addMember,
  changeMemberRole,
  createInvitation,
  createUser,
  findMember,
  hasOtherAdmin,
  invitationLink,
  invitationMinutes,
  listInvitations,
  listMembers,
  lockInvitation,
  lockMembers,
  putPassword,
  readOrganization,
  removeMember,
  revokeInvitation,
} from '@parley/identity';
import {
  type CallerContext,
  type Handler,
  HttpError,
  type RequestContext,
  conflict,
  forbidden,
  notFound,
  requireHttps,
} from '@parley/service';
import { auditedName, recordAudit } from '@parley/audit';
import { auditOf } from '../audit';
import { msOf, msOrNull, pageOf } from '../page';
import { clientAddress } from '../sign-in-limit';
import { newCredentials, proveInvited } from './invited-person';
import { type SessionDeps, beginSession, finishSignIn, signedIn } from './sessions';

interface Handlers {
  listMembers: Handler<'listMembers'>;
  changeMember: Handler<'changeMember'>;
  removeMember: Handler<'removeMember'>;
  listInvitations: Handler<'listInvitations'>;
  createInvitation: Handler<'createInvitation'>;
  revokeInvitation: Handler<'revokeInvitation'>;
  showInvitation: Handler<'showInvitation'>;
  acceptInvitation: Handler<'acceptInvitation'>;
}

export interface LinkDeps {
  /**
   * Looks up the token of a link, with a limit for each network address: the client may
   * not be signed in.
   */
  lookUpLink: TokenLookUp<IncomingMessage>;
}

export const createMemberHandlers = (deps: SessionDeps & LinkDeps): Handlers => ({
  async listMembers({ query }, { scope }) {
    const { page, answer } = pageOf('members', scope, query);
    return answer(await listMembers(deps.db, scope, page), toMember);
  },

  changeMember: ({ params: { id }, body: { role } }, context) =>
    changeMembers(deps.db, context, id, async (tx, member) => {
      if (member.externalId !== null)
        throw conflict(
          'The role of this person is changed at the identity provider',
          'managed_member',
        );
      if (role !== 'admin') await requireOtherAdmin(tx, context, member);
      const ended = await changeMemberRole(tx, context.scope, id, role);
      await auditOf(deps, context)(tx, {
        action: 'member.changed',
        target: { type: 'person', id },
        before: { role: member.role },
        after: { role },
        isOfOrganization: true,
      });
      await auditEnded(deps, context, tx, ended);
      return toMember({ ...member, role });
    }),

  removeMember: ({ params: { id } }, context) =>
    changeMembers(deps.db, context, id, async (tx, member) => {
      await requireOtherAdmin(tx, context, member);
      const ended = await removeMember(tx, context.scope, member);
      await auditOf(deps, context)(tx, {
        action: 'member.removed',
        target: { type: 'person', id },
        before: { role: member.role, email: member.email, isEmailProved: member.isEmailProved },
        isOfOrganization: true,
      });
      await auditEnded(deps, context, tx, ended);
      return { success: true };
    }),

  async listInvitations({ query }, { scope }) {
    const { page, answer } = pageOf('invitations', scope, query);
    return answer(await listInvitations(deps.db, scope, page), toInvitation);
  },

  async createInvitation({ body: { role, email } }, context) {
    const { scope, caller } = context;
    const mail = email === undefined ? null : await deps.channels.mailOfEnvironment(scope);
    const { invitation, token, mailToken } = await deps.db.transaction(async (tx) => {
      await lockMembers(tx, scope);
      if (caller.type === 'person') await requireAdmin(tx, context, caller.id);
      const { type, id } = caller;
      const author = { type, id };
      const created = await createInvitation(tx, scope, {
        role,
        email,
        author,
        mail: mail ?? undefined,
        minutes: invitationMinutes,
      });
      await auditOf(deps, context)(tx, {
        action: 'invitation.created',
        target: { type: 'invitation', id: created.invitation.id },
        after: { role, email: email ?? null },
        isOfOrganization: true,
      });
      return created;
    });
    const isEmailed =
      email !== undefined &&
      mail !== null &&
      (await sendLink(deps, context, mail, {
        to: email,
        link: invitationLink(deps.publicUrl, mailToken),
      }));
    return { ...toInvitation(invitation), link: invitationLink(deps.publicUrl, token), isEmailed };
  },

  revokeInvitation: ({ params: { id } }, context) =>
    deps.db.transaction(async (tx) => {
      const revoked = await revokeInvitation(tx, context.scope, id);
      if (revoked === null) throw unknownInvitation();
      if (revoked.acceptedAt !== null)
        throw conflict('The invitation was accepted', 'invitation_accepted');
      await auditOf(deps, context)(tx, {
        action: 'invitation.revoked',
        target: { type: 'invitation', id },
        before: { role: revoked.role, email: revoked.email },
        isOfOrganization: true,
      });
      return { success: true };
    }),

  async showInvitation({ body: { token } }, context) {
    const invitation = await checkInvitation(deps, context, token);
    const { slug, organizationName: name, role, email, isMailed, expiresAt } = invitation;
    return {
      organization: { slug, name },
      role,
      email,
      isEmailProved: isMailed,
      expiresAt: msOf(expiresAt),
    };
  },

  async acceptInvitation({ body: { token, email: typed, name, password, keepSignedIn } }, context) {
    requireHttps(context.request, deps.publicUrl);
    const { email: invited } = await checkInvitation(deps, context, token);
    const person = await signedIn(deps, context.request);
    const email = typed ?? invited;
    const credentials =
      person === null ? await newCredentials(deps, context.request, { email, password }) : null;
    const { userId, session } = await deps.db.transaction(async (tx) => {
      const invitation = await openInvitation(tx, token);
      const userId = person?.id ?? (await createUser(tx, { email: null, name: name ?? null }));
      if (credentials !== null) await putPassword(tx, userId, credentials.email, credentials.hash);
      const isProved = await proveInvited(tx, userId, invitation);
      const known = person ?? { name: email!, email, isEmailProved: isProved };
      await joinOrganization(deps, context, tx, invitation, {
        id: userId,
        name: auditedName(known),
      });
      const options = { isRecorded: false, isKept: keepSignedIn };
      return { userId, session: await beginSession(deps, context, tx, userId, options) };
    });
    return finishSignIn(deps, context, userId, session);
  },
});

/**
 * Finds an invitation whose link works, and locks it: of two requests with one link the second
 * finds it accepted.
 */
export async function openInvitation(tx: Queryable, token: string) {
  return requireOpen(await lockInvitation(tx, token));
}

function requireOpen<I extends { isOpen: boolean }>(invitation: I | null): I {
  if (invitation === null) throw unknownInvitation();
  if (!invitation.isOpen) throw new HttpError(410, 'invitation_ended', endedInvitation);
  return invitation;
}

/**
 * Finds an invitation whose link works. Unknown tokens are limited for each network address: the
 * client may not be signed in.
 */
export async function checkInvitation(
  { db, lookUpLink }: LinkDeps & Pick<SessionDeps, 'db'>,
  { request }: Pick<RequestContext, 'request'>,
  token: string,
) {
  const find = () => db.transaction((tx) => lockInvitation(tx, token));
  return requireOpen(await lookUpLink(request, token, find));
}

/** Makes the person who holds the link a member, and uses the link up. */
export async function joinOrganization(
  { keyLimit }: Pick<SessionDeps, 'keyLimit'>,
  { request, requestId }: Pick<CallerContext, 'request' | 'requestId'>,
  tx: Queryable,
  { id, tenant, role }: { id: string; tenant: number; role: 'admin' | 'member' },
  person: { id: string; name: string },
): Promise<void> {
  await lockMembers(tx, { tenant });
  await addMember(tx, { tenant }, person.id, role);
  await acceptInvitation(tx, { tenant }, id, person.id);
  const source = {
    actor: { type: 'person', ...person },
    address: clientAddress(request, keyLimit) || null,
    requestId,
  } as const;
  const entry = {
    action: 'invitation.accepted',
    target: { type: 'invitation', id },
    after: { role },
  };
  await recordAudit(tx, { tenant, environment: null }, source, entry);
}

/** Changes a member while no other change of the organization's members runs. */
const changeMembers = <A>(
  db: Db,
  { scope }: CallerContext,
  id: string,
  change: (tx: Queryable, member: Member) => Promise<A>,
): Promise<A> =>
  db.transaction(async (tx) => {
    await lockMembers(tx, scope);
    const member = await findMember(tx, scope, id);
    if (member === null) throw notFound('Member not found', 'member_not_found');
    return change(tx, member);
  });

async function requireOtherAdmin(
  tx: Queryable,
  { scope }: CallerContext,
  { id, role }: Member,
): Promise<void> {
  if (role === 'admin' && !(await hasOtherAdmin(tx, scope, id)))
    throw conflict('The organization would have no admin', 'last_admin');
}

/** The role may have changed since the request began. */
async function requireAdmin(tx: Queryable, { scope }: CallerContext, id: string): Promise<void> {
  if ((await findMember(tx, scope, id))?.role !== 'admin')
    throw forbidden('Only an admin of the organization may do this', 'requires_admin');
}

/** Records the invitations that ended with the role of their author. */
async function auditEnded(
  deps: SessionDeps,
  context: CallerContext,
  tx: Queryable,
  ended: { id: string; role: string; email: string | null }[],
): Promise<void> {
  for (const { id, ...before } of ended)
    await auditOf(deps, context)(tx, {
      action: 'invitation.revoked',
      target: { type: 'invitation', id },
      before,
      isOfOrganization: true,
    });
}

/** The link is a secret, so the e-mail is not stored in the outbox, which members can read. */
async function sendLink(
  { db }: SessionDeps,
  { scope, log }: CallerContext,
  mail: SecretMail,
  { to, link }: { to: string; link: string },
): Promise<boolean> {
  const { name } = await readOrganization(db, scope.organizationId);
  const text = `You are invited to ${name} on Parley. Open this link within 7 days; it works once:\n\n${link}\n`;
  const subject = `Invitation to ${name}`;
  return mail.send({ to, subject, text }).catch((error: unknown) => {
    log.warn({ err: error }, 'an invitation was not sent');
    return false;
  });
}

const endedInvitation =
  'The invitation was accepted or revoked, or has expired, or its author may not invite any more';
const unknownInvitation = () => notFound('Invitation not found', 'invitation_not_found');

const toMember = ({ membershipId: _, externalId, createdAt, lastSeenAt, ...member }: Member) => ({
  ...member,
  isManaged: externalId !== null,
  createdAt: msOf(createdAt),
  lastSeenAt: msOrNull(lastSeenAt),
});

function toInvitation({
  revokedAt,
  createdAt,
  expiresAt,
  acceptedAt,
  isOfAdmin,
  ...invitation
}: Invitation) {
  const isExpired = expiresAt.getTime() <= Date.now();
  const isRevoked = revokedAt !== null || !isOfAdmin;
  const status = acceptedAt ? 'accepted' : isRevoked ? 'revoked' : isExpired ? 'expired' : 'open';
  return {
    ...invitation,
    status: status as 'open' | 'accepted' | 'revoked' | 'expired',
    createdAt: msOf(createdAt),
    expiresAt: msOf(expiresAt),
    acceptedAt: msOrNull(acceptedAt),
  };
}
