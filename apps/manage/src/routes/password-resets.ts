import type { Queryable } from '@parley/db';
import {
  emailOfPassword,
  endPersonLinks,
  endSessions,
  findPersonLink,
  hashPassword,
  holdersOfEmail,
  lockEmail,
  normalEmail,
  organizationsOf,
  proveEmail,
  putPassword,
  saltOfEmail,
  usePersonLink,
} from '@parley/identity';
import {
  type Handler,
  HttpError,
  type RequestContext,
  badRequest,
  onClosed,
  requireHttps,
} from '@parley/service';
import { auditPerson } from '../audit';
import { mailLink } from '../person-mail';
import { type AdmitSignIn, clientAddress } from '../sign-in-limit';
import { type SessionDeps, tooBusy } from './sessions';

interface Handlers {
  requestPasswordReset: Handler<'requestPasswordReset'>;
  showPasswordReset: Handler<'showPasswordReset'>;
  completePasswordReset: Handler<'completePasswordReset'>;
}

export interface PasswordResetDeps extends SessionDeps {
  /** Limits requests for links, apart from attempts to sign in. */
  admitReset: AdmitSignIn;
}

/** E-mails for one request: several people may have an address. Those who proved it come first. */
const maxHolders = 3;

export const createPasswordResetHandlers = (deps: PasswordResetDeps): Handlers => ({
  async requestPasswordReset({ body: { email } }, context) {
    requireHttps(context.request, deps.publicUrl);
    await deps.admitReset(email, clientAddress(context.request, deps.keyLimit));
    // The account is looked up after the answer, whose time then does not show
    // whether there is one.
    onClosed(context.response, () => {
      sendLinks(deps, context, email).catch((error: unknown) =>
        context.log.error({ err: error }, 'links for new passwords were not sent'),
      );
    });
    return { success: true };
  },

  async showPasswordReset({ body: { token } }, context) {
    await deps.admitSignIn(`show ${token}`, clientAddress(context.request, deps.keyLimit));
    const link = await findPersonLink(deps.db, 'password', token);
    if (link === null) throw linkEnded();
    return { email: await emailOfPassword(deps.db, link.userId) };
  },

  async completePasswordReset({ body: { token, password, email: typed } }, context) {
    requireHttps(context.request, deps.publicUrl);
    await deps.admitSignIn(token, clientAddress(context.request, deps.keyLimit));
    const link = await findPersonLink(deps.db, 'password', token);
    if (link === null) throw linkEnded();
    const known = await emailOfPassword(deps.db, link.userId);
    const email = known ?? typed;
    if (email === undefined)
      throw badRequest(
        'The person has no e-mail address to sign in with. Name one',
        undefined,
        'missing_email',
      );
    const hash = await hashPassword(password, await saltOfEmail(deps.db, email)).catch(tooBusy);
    await deps.db.transaction(async (tx) => {
      // In the order of a change of the password: the address, the password, the links.
      await lockEmail(tx, email);
      const used = await usePersonLink(tx, 'password', token);
      const isSame = (await emailOfPassword(tx, link.userId)) === known;
      if (used === null || !isSame || !(await isOfSender(tx, used))) throw linkEnded();
      await putPassword(tx, used.userId, email, hash);
      if (used.email !== null) await proveEmail(tx, used.userId, used.email, used.proofTenant);
      await endPersonLinks(tx, used.userId);
      await endSessions(tx, used.userId);
      await auditPerson(
        deps,
        context,
        { id: used.userId, email: normalEmail(email) },
        tx,
        'password.reset',
      );
    });
    return { success: true };
  },
});

export const linkEnded = () =>
  new HttpError(410, 'link_ended', 'The link was used or replaced, or has expired');

/**
 * A person who signs in at an OpenID provider, too, must prove the address in a session: it may be
 * the one of a outsider.
 */
async function sendLinks(
  deps: PasswordResetDeps,
  context: RequestContext,
  email: string,
): Promise<void> {
  for (const { id, isProved, hasIdentity } of await holdersOfEmail(deps.db, email, maxHolders)) {
    if (!isProved && hasIdentity) continue;
    const to = normalEmail(email);
    if (await mailLink(deps, context.log, id, { purpose: 'password', email: to }))
      await auditPerson(deps, context, { id, email: to }, deps.db, 'password.reset_sent');
  }
}

/**
 * The admins of an organization can read what its account sends. A link that it sent sets no
 * password of a person who has joined another organization since.
 */
async function isOfSender(
  tx: Queryable,
  { userId, proofTenant }: { userId: string; proofTenant: number | null },
): Promise<boolean> {
  if (proofTenant === null) return true;
  return (await organizationsOf(tx, userId)).every(({ tenant }) => tenant === proofTenant);
}
