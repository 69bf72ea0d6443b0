import { randomUUID } from 'node:crypto';
import type { SignedIn } from '@parley/contracts';
import { auditedName } from '@parley/audit';
import type { Queryable } from '@parley/db';
import { type OidcIdentity, bindIdentity, findPerson } from '@parley/identity';
import {
  type Handler,
  type RequestContext,
  badRequest,
  conflict,
  notFound,
  requireHttps,
  setCookie,
} from '@parley/service';
import { z } from 'zod';
import { auditPerson } from '../audit';
import type { Oidc } from '../oidc';
import { removedCookie } from '../sealed-cookies';
import { joinOrganization, openInvitation } from './members';
import { type SessionDeps, signedIn } from './sessions';

interface Handlers {
  getIdentityConfirmation: Handler<'getIdentityConfirmation'>;
  confirmIdentity: Handler<'confirmIdentity'>;
  declineIdentity: Handler<'declineIdentity'>;
}

/**
 * An identity that waits until the person who is signed in confirms that it is the person's own.
 */
const identityCookie = {
  name: 'parley_identity',
  content: z.object({
    id: z.string(),
    identity: z.object({
      issuer: z.string(),
      subject: z.string(),
      email: z.string().nullable(),
      name: z.string().nullable(),
    }),
    invitation: z.string(),
    returnTo: z.string(),
  }),
};
type Question = z.infer<typeof identityCookie.content>;

/** The page of the console that asks. */
const confirmationPath = '/console/#/confirm-identity';

/** A cookie has at most 4,096 bytes. What identifies is kept whole; what is shown is cut. */
const shownCharacters = 100;
const shorten = (text: string | null): string | null =>
  text !== null && text.length > shownCharacters
    ? `${text.slice(0, shownCharacters - 1).toWellFormed()}…`
    : text;

/** Leads the browser to the page that asks whether to add an identity. Returns its path. */
export function askToConfirm(
  deps: SessionDeps,
  context: RequestContext,
  session: SignedIn | null,
  { identity, invitation, returnTo }: Omit<Question, 'id'>,
): string {
  const shown = { ...identity, email: shorten(identity.email), name: shorten(identity.name) };
  const question: Question = { id: randomUUID(), identity: shown, invitation, returnTo };
  const cookie = deps.sealedCookies.seal(identityCookie, question, session);
  setCookie(context, cookie, deps.publicUrl);
  return confirmationPath;
}

/**
 * The question whether an identity is added to the account of the person who is signed
 * in, and its answer.
 */
export const createIdentityConfirmationHandlers = (deps: SessionDeps): Handlers => ({
  async getIdentityConfirmation(_input, context) {
    const { name: provider } = requireOidc(deps);
    const { id, identity, invitation } = await questionOf(deps, context);
    const { organizationName, slug, role } = await deps.db.transaction((tx) =>
      openInvitation(tx, invitation),
    );
    return {
      id,
      person: await findPerson(deps.db, context.person.id),
      identity: { provider, issuer: identity.issuer, email: identity.email, name: identity.name },
      organization: { slug, name: organizationName },
      role,
    };
  },

  async confirmIdentity({ body }, context) {
    requireOidc(deps);
    requireHttps(context.request, deps.publicUrl);
    const { id, identity, invitation: token, returnTo } = await questionOf(deps, context);
    // Another tab has asked about another identity since.
    if (body.id !== id) throw signInExpired();
    const { person } = context;
    await deps.db.transaction(async (tx) => {
      const invitation = await openInvitation(tx, token);
      await addIdentity(tx, identity, person.id);
      // Before the person joins: that organization has the entry of the acceptance.
      await auditPerson(deps, context, person, tx, 'identity.added', {
        issuer: identity.issuer,
        email: identity.email,
      });
      await joinOrganization(deps, context, tx, invitation, {
        id: person.id,
        name: auditedName(person),
      });
    });
    setCookie(context, removedCookie(identityCookie), deps.publicUrl);
    return { returnTo };
  },

  async declineIdentity(_input, context) {
    setCookie(context, removedCookie(identityCookie), deps.publicUrl);
    return { success: true };
  },
});

async function questionOf(deps: SessionDeps, { request }: RequestContext): Promise<Question> {
  const opened = await deps.sealedCookies.open(identityCookie, request, () =>
    signedIn(deps, request),
  );
  if (opened === null) throw signInExpired();
  return opened.content;
}

/** Adds an identity to a person, who signs in with it from now on. */
export async function addIdentity(
  tx: Queryable,
  identity: OidcIdentity,
  userId: string,
): Promise<void> {
  if (!(await bindIdentity(tx, identity, userId)))
    throw conflict('This identity belongs to another person', 'identity_taken');
}

export function requireOidc({ oidc }: SessionDeps): Oidc {
  if (oidc === null) throw notFound('No OpenID provider is configured', 'no_oidc');
  return oidc;
}

export const signInExpired = () =>
  badRequest(
    'This sign-in has expired or was begun in another browser. Begin again',
    undefined,
    'sign_in_expired',
  );
