import type { IncomingMessage } from 'node:http';
import type { Channels } from '@parley/channels';
import type { Db, Queryable } from '@parley/db';
import {
  type Invitation,
  type Member,
  type TokenLookUp,
  acceptInvitation,
  addMember,
  changeMemberRole,
  createInvitation,
  createPassword,
  createUser,
  findMember,
  hasOtherAdmin,
  hashPassword,
  invitationLink,
  invitationMinutes,
  listInvitations,
  listMembers,
  lockInvitation,
  lockMembers,
  readOrganization,
  removeMember,
  revokeInvitation,
} from '@parley/identity';
import {
  type CallerContext,
  type Handler,
  HttpError,
  type RequestContext,
  badRequest,
  conflict,
  notFound,
  requireHttps,
} from '@parley/service';
import { recordAudit } from '@parley/audit';
import { auditOf } from '../audit';
import { msOf, msOrNull, pageOf } from '../page';
import { clientAddress } from '../sign-in-limit';
import { type SessionDeps, beginSession, finishSignIn, signedIn, tooBusy } from './sessions';

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
  /** Looks up the token of a link for a stranger, with a limit for each network address. */
  lookUpLink: TokenLookUp<IncomingMessage>;
}

interface MemberDeps extends SessionDeps, LinkDeps {
  channels: Pick<Channels, 'sendEmailNow'>;
}

export const createMemberHandlers = (deps: MemberDeps): Handlers => ({
  async listMembers({ query }, { scope }) {
    const { page, answer } = pageOf('members', scope, query);
    return answer(await listMembers(deps.db, scope, page), toMember);
  },

  changeMember: ({ params: { id }, body: { role } }, context) =>
    changeMembers(deps.db, context, id, async (tx, member) => {
      if (member.externalId !== null)
        throw conflict('The role of this person is changed at the identity provider', 'managed_member');
      if (role !== 'admin') await requireOtherAdmin(tx, context, member);
      await changeMemberRole(tx, context.scope, id, role);
      await auditOf(deps, context)(tx, {
        action: 'member.changed',
        target: { type: 'person', id },
        before: { role: member.role },
        after: { role },
        isOfOrganization: true,
      });
      return toMember({ ...member, role });
    }),

  removeMember: ({ params: { id } }, context) =>
    changeMembers(deps.db, context, id, async (tx, member) => {
      await requireOtherAdmin(tx, context, member);
      await removeMember(tx, context.scope, member);
      await auditOf(deps, context)(tx, {
        action: 'member.removed',
        target: { type: 'person', id },
        before: { role: member.role, email: member.email },
        isOfOrganization: true,
      });
      return { success: true };
    }),

  async listInvitations({ query }, { scope }) {
    const { page, answer } = pageOf('invitations', scope, query);
    return answer(await listInvitations(deps.db, scope, page), toInvitation);
  },

  async createInvitation({ body: { role, email } }, context) {
    const { scope, caller } = context;
    const invitedBy = caller.type === 'person' ? caller.id : null;
    const { invitation, token } = await deps.db.transaction(async (tx) => {
      const created = await createInvitation(tx, scope, { role, email, invitedBy, minutes: invitationMinutes });
      await auditOf(deps, context)(tx, {
        action: 'invitation.created',
        target: { type: 'invitation', id: created.invitation.id },
        after: { role, email: email ?? null },
        isOfOrganization: true,
      });
      return created;
    });
    const link = invitationLink(deps.publicUrl, token);
    const isEmailed = email !== undefined && (await sendLink(deps, context, email, link));
    return { ...toInvitation(invitation), link, isEmailed };
  },

  revokeInvitation: ({ params: { id } }, context) =>
    deps.db.transaction(async (tx) => {
      const revoked = await revokeInvitation(tx, context.scope, id);
      if (revoked === null) throw unknownInvitation();
      if (revoked.acceptedAt !== null) throw conflict('The invitation was accepted', 'invitation_accepted');
      await auditOf(deps, context)(tx, {
        action: 'invitation.revoked',
        target: { type: 'invitation', id },
        before: { role: revoked.role, email: revoked.email },
        isOfOrganization: true,
      });
      return { success: true };
    }),

  async showInvitation({ body: { token } }, context) {
    const { slug, organizationName: name, role, email, expiresAt } = await checkInvitation(deps, context, token);
    return { organization: { slug, name }, role, email, expiresAt: msOf(expiresAt) };
  },

  async acceptInvitation({ body: { token, email, name, password, keepSignedIn } }, context) {
    requireHttps(context.request, deps.publicUrl);
    await checkInvitation(deps, context, token);
    const person = await signedIn(deps.db, context.request);
    let hash = '';
    if (person === null) {
      if (email === undefined || password === undefined)
        throw badRequest('Without a session, email and password are required', undefined, 'missing_password');
      await deps.admitSignIn(email, clientAddress(context.request, deps.keyLimit));
      hash = await hashPassword(password).catch(tooBusy);
    }
    const { userId, session } = await deps.db.transaction(async (tx) => {
      const invitation = await openInvitation(tx, token);
      const userId = person?.id ?? (await createUser(tx, { email: email!, name: name ?? null }));
      if (person === null && !(await createPassword(tx, userId, email!, hash)))
        throw conflict(
          'This e-mail address belongs to a person. Sign in first, then open the link again',
          'email_taken',
        );
      await joinOrganization(deps, context, tx, invitation, {
        id: userId,
        name: person === null ? email! : (person.email ?? person.name),
      });
      const options = { isRecorded: false, isKept: keepSignedIn };
      return { userId, session: await beginSession(deps, context, tx, userId, options) };
    });
    return finishSignIn(deps, context, userId, session);
  },
});

/** Finds an invitation whose link works, and locks it: of two requests with one link the second finds it accepted. */
export async function openInvitation(tx: Queryable, token: string) {
  return requireOpen(await lockInvitation(tx, token));
}

function requireOpen<I extends { isOpen: boolean }>(invitation: I | null): I {
  if (invitation === null) throw unknownInvitation();
  if (!invitation.isOpen)
    throw new HttpError(410, 'invitation_ended', 'The invitation was accepted or revoked, or has expired');
  return invitation;
}

/** Finds an invitation whose link works, for a stranger: unknown tokens are limited for each network address. */
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
  const entry = { action: 'invitation.accepted', target: { type: 'invitation', id }, after: { role } };
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

async function requireOtherAdmin(tx: Queryable, { scope }: CallerContext, { id, role }: Member): Promise<void> {
  if (role === 'admin' && !(await hasOtherAdmin(tx, scope, id)))
    throw conflict('The organization would have no admin', 'last_admin');
}

/** The link is a secret, so the e-mail is not stored in the outbox, which members can read. */
async function sendLink(
  { db, channels }: MemberDeps,
  { scope, log }: CallerContext,
  to: string,
  link: string,
): Promise<boolean> {
  const { name } = await readOrganization(db, scope.organizationId);
  const text = `You are invited to ${name} on Parley. Open this link within 7 days; it works once:\n\n${link}\n`;
  const subject = `Invitation to ${name.replace(/\p{Cc}/gu, ' ')}`;
  return channels.sendEmailNow(scope, { to, subject, text }).catch((error: unknown) => {
    log.warn({ err: error }, 'an invitation was not sent');
    return false;
  });
}

const unknownInvitation = () => notFound('Invitation not found', 'invitation_not_found');

const toMember = ({ membershipId: _, externalId, createdAt, lastSeenAt, ...member }: Member) => ({
  ...member,
  isManaged: externalId !== null,
  createdAt: msOf(createdAt),
  lastSeenAt: msOrNull(lastSeenAt),
});

function toInvitation({ revokedAt, createdAt, expiresAt, acceptedAt, ...invitation }: Invitation) {
  const isExpired = expiresAt.getTime() <= Date.now();
  const status = acceptedAt ? 'accepted' : revokedAt ? 'revoked' : isExpired ? 'expired' : 'open';
  return {
    ...invitation,
    status: status as 'open' | 'accepted' | 'revoked' | 'expired',
    createdAt: msOf(createdAt),
    expiresAt: msOf(expiresAt),
    acceptedAt: msOrNull(acceptedAt),
  };
}
