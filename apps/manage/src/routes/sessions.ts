import type { IncomingMessage } from 'node:http';
import { type Queryable, hasActiveIntegration } from '@parley/db';
import {
  TooManyPasswords,
  checkPassword,
  createSession,
  createSessionCheck,
  emailOfPassword,
  endPersonLinks,
  endSessions,
  findPerson,
  holdPassword,
  listSessions,
  organizationsOf,
  preparePasswordChange,
} from '@parley/identity';
import {
  type FindSession,
  type Handler,
  HttpError,
  type RequestContext,
  conflict,
  forbidden,
  noSessionCookie,
  notFound,
  requireHttps,
  sessionCookieOf,
  sessionTokenOf,
  setCookie,
  unavailable,
} from '@parley/service';
import { type AuditDeps, auditPerson } from '../audit';
import { msOf } from '../page';
import type { Oidc } from '../oidc';
import type { PersonMailDeps } from '../person-mail';
import type { SealedCookies } from '../sealed-cookies';
import { type AdmitSignIn, clientAddress } from '../sign-in-limit';

export interface SessionDeps extends AuditDeps, PersonMailDeps {
  admitSignIn: AdmitSignIn;
  /** Null when no OpenID provider is configured. */
  oidc: Oidc | null;
  sealedCookies: SealedCookies;
  findSession: FindSession;
}

interface Handlers {
  getSignInWays: Handler<'getSignInWays'>;
  signIn: Handler<'signIn'>;
  signOut: Handler<'signOut'>;
  endSession: Handler<'endSession'>;
  listSessions: Handler<'listSessions'>;
  getMe: Handler<'getMe'>;
  changePassword: Handler<'changePassword'>;
}

export const createSessionHandlers = (deps: SessionDeps): Handlers => ({
  async getSignInWays() {
    const passwordResetByEmail =
      deps.channels.mailOfServer() !== null || (await hasActiveIntegration(deps.db, 'resend'));
    return { password: true, oidc: deps.oidc && { name: deps.oidc.name }, passwordResetByEmail };
  },

  async signIn({ body: { email, password, keepSignedIn } }, context) {
    const { db } = deps;
    requireHttps(context.request, deps.publicUrl);
    await deps.admitSignIn(email, clientAddress(context.request, deps.keyLimit));
    const { match, holders } = await checkPassword(db, email, password).catch(tooBusy);
    if (match === null) {
      // Not awaited: the answer for a known person must not take longer.
      for (const id of holders)
        auditPerson(deps, context, { id, email }, db, 'session.refused').catch((error: unknown) =>
          context.log.error({ err: error }, 'a refused sign-in was not recorded'),
        );
      throw wrongCredentials();
    }
    const { userId, hash } = match;
    if ((await organizationsOf(db, userId)).length === 0) throw noOrganization();
    const session = await db.transaction(async (tx) => {
      if (!(await holdPassword(tx, userId, hash))) throw wrongCredentials();
      return beginSession(deps, context, tx, userId, { isKept: keepSignedIn });
    });
    return finishSignIn(deps, context, userId, session);
  },

  signOut: (_input, context) =>
    deps.db.transaction(async (tx) => {
      const { person } = context;
      await endSessions(tx, person.id, { only: person.sessionId });
      await auditPerson(deps, context, person, tx, 'session.ended');
      setCookie(context, noSessionCookie, deps.publicUrl);
      return { success: true };
    }),

  endSession: ({ params: { id } }, context) =>
    deps.db.transaction(async (tx) => {
      if ((await endSessions(tx, context.person.id, { only: id })) === 0)
        throw notFound('Session not found', 'session_not_found');
      await auditPerson(deps, context, context.person, tx, 'session.ended');
      return { success: true };
    }),

  async listSessions(_input, { person }) {
    const sessions = await listSessions(deps.db, person.id);
    const shown = sessions.map(({ createdAt, lastSeenAt, expiresAt, ...session }) => ({
      ...session,
      isCurrent: session.id === person.sessionId,
      createdAt: msOf(createdAt),
      lastSeenAt: msOf(lastSeenAt),
      expiresAt: msOf(expiresAt),
    }));
    return { data: shown };
  },

  async getMe(_input, { person: { id, sessionId } }) {
    const [person, organizations] = [
      await findPerson(deps.db, id),
      await organizationsOf(deps.db, id),
    ];
    const shown = organizations.map(({ id, slug, name, role }) => ({
      id,
      slug,
      name,
      role,
      environments: ['development' as const, 'production' as const],
    }));
    return { person, sessionId, organizations: shown };
  },

  async changePassword({ body: { currentPassword: current, newPassword: next } }, context) {
    const { person, request } = context;
    const email = await emailOfPassword(deps.db, person.id);
    if (email === null) throw conflict('You sign in without a password', 'no_password');
    await deps.admitSignIn(email, clientAddress(request, deps.keyLimit));
    const change = await preparePasswordChange(deps.db, person.id, { current, next }).catch(
      tooBusy,
    );
    if (change === null) throw forbidden('The current password is wrong', 'wrong_password');
    await deps.db.transaction(async (tx) => {
      if (!(await change(tx)))
        throw conflict('The password was changed by another request', 'password_changed');
      await endPersonLinks(tx, person.id);
      await endSessions(tx, person.id, { except: person.sessionId });
      await auditPerson(deps, context, person, tx, 'password.changed');
    });
    return { success: true };
  },
});

type Begun = Awaited<ReturnType<typeof createSession>>;
type Deps = Pick<SessionDeps, 'db' | 'publicUrl' | 'keyLimit'>;

/**
 * The person whose session the browser has, and the session; null without one. Unknown sessions are
 * limited for each address.
 */
export async function signedIn(
  { findSession }: Pick<SessionDeps, 'findSession'>,
  request: IncomingMessage,
) {
  const token = sessionTokenOf(request);
  return token === undefined ? null : findSession(token, undefined, request);
}

/**
 * Begins a session. The one that the browser had ends: its token may have been planted.
 * `isRecorded`: in the audit log.
 */
export async function beginSession(
  deps: Deps,
  context: Pick<RequestContext, 'request' | 'requestId'>,
  tx: Queryable,
  userId: string,
  { isRecorded = true, isKept = false } = {},
): Promise<Begun> {
  const { request } = context;
  const token = sessionTokenOf(request);
  const old =
    token === undefined
      ? null
      : await createSessionCheck(tx, { isUse: false })(token, undefined, request);
  if (old !== null) await endSessions(tx, old.id, { only: old.sessionId });
  const address = clientAddress(request, deps.keyLimit) || null;
  const session = await createSession(tx, userId, {
    address,
    userAgent: userAgentOf(request),
    isKept,
  });
  if (isRecorded)
    await auditPerson(deps, context, await findPerson(tx, userId), tx, 'session.started');
  return session;
}

/** Sets the cookie of a session that has been stored. */
export async function finishSignIn(
  { db, publicUrl }: Deps,
  context: RequestContext,
  userId: string,
  { id, token, expiresAt }: Begun,
) {
  setCookie(context, sessionCookieOf(token, expiresAt), publicUrl);
  return { id, expiresAt: msOf(expiresAt), person: await findPerson(db, userId) };
}

/** PostgreSQL stores no NUL, and a header has none. */
const userAgentOf = ({ headers }: IncomingMessage): string | null =>
  headers['user-agent']?.slice(0, 300) ?? null;

const wrongCredentials = () =>
  new HttpError(401, 'wrong_credentials', 'Wrong e-mail address or password', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
export const noOrganization = () =>
  forbidden('You belong to no organization. Ask an admin for an invitation', 'no_organization');

/** For the failures of checks of passwords. */
export function tooBusy(error: unknown): never {
  if (error instanceof TooManyPasswords)
    throw unavailable('Signing in is temporarily unavailable', 2, 'sign_in_unavailable');
  throw error;
}
