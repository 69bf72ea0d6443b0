import { type SignedIn, operationsOf } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { createUser, organizationsOf, personOfIdentity, personOfWebhook } from '@parley/identity';
import {
  type Handler,
  HttpError,
  type RequestContext,
  requireHttps,
  setCookie,
} from '@parley/service';
import type { z } from 'zod';
import { OidcError, type OidcPerson, oidcChecksSchema } from '../oidc';
import { removedCookie } from '../sealed-cookies';
import { clientAddress } from '../sign-in-limit';
import { addIdentity, askToConfirm, requireOidc, signInExpired } from './identity-confirmation';
import { type LinkDeps, checkInvitation, joinOrganization, openInvitation } from './members';
import { type SessionDeps, beginSession, finishSignIn, noOrganization, signedIn } from './sessions';

interface Handlers {
  beginOidcSignIn: Handler<'beginOidcSignIn'>;
  finishOidcSignIn: Handler<'finishOidcSignIn'>;
}

/**
 * What has to be the same when the browser returns. It is in the browser, so any process can
 * finish a sign-in.
 */
const begunCookie = {
  name: 'parley_oidc',
  content: operationsOf.manage.beginOidcSignIn.body.extend({ checks: oidcChecksSchema }),
};

/** Signing in at an OpenID provider. */
export const createOidcHandlers = (deps: SessionDeps & LinkDeps): Handlers => ({
  async beginOidcSignIn({ body: { invitation, returnTo } }, context) {
    const oidc = requireOidc(deps);
    requireHttps(context.request, deps.publicUrl);
    if (invitation !== undefined) await checkInvitation(deps, context, invitation);
    const session = await signedIn(deps, context.request);
    const { url, checks } = await oidc.begin();
    setCookie(
      context,
      deps.sealedCookies.seal(begunCookie, { checks, invitation, returnTo }, session),
      deps.publicUrl,
    );
    return { url };
  },

  async finishOidcSignIn({ query: { state } }, context) {
    const oidc = requireOidc(deps);
    const { request } = context;
    const begun = await deps.sealedCookies.open(begunCookie, request, () =>
      signedIn(deps, request),
    );
    if (begun === null || state !== begun.content.checks.state) throw signInExpired();
    const { checks, returnTo } = begun.content;
    // Each attempt calls the provider. An attempt has a state of its own, so only the
    // network address counts.
    await deps.admitSignIn(checks.state, clientAddress(request, deps.keyLimit));
    setCookie(context, removedCookie(begunCookie), deps.publicUrl);
    try {
      const identity = await oidc.finish(request.url!.slice(request.url!.indexOf('?')), checks);
      return sendBrowser(context, await signInAs(deps, context, identity, begun));
    } catch (error) {
      const isRefusal =
        error instanceof OidcError || (error instanceof HttpError && error.status < 500);
      if (!isRefusal) throw error;
      context.log.warn({ err: error }, 'a sign-in at the OpenID provider failed');
      const url = new URL(returnTo, 'http://localhost');
      url.searchParams.set('error', error.code);
      return sendBrowser(context, url.pathname + url.search + url.hash);
    }
  },
});

/** The sign-in that the callback finishes: what it began with, and the session of the browser. */
interface Begun {
  content: z.output<typeof begunCookie.content>;
  session: SignedIn | null;
}

/**
 * Begins a session of the person whose identity it is. Returns the path to which the browser is
 * sent. An unknown identity is never added to the account of the person who is signed in before
 * that person has confirmed it.
 */
async function signInAs(
  deps: SessionDeps,
  context: RequestContext,
  identity: OidcPerson,
  { content: { invitation, returnTo }, session }: Begun,
): Promise<string> {
  const started = await deps.db.transaction(async (tx) => {
    const known = await knownPerson(deps, tx, identity);
    if (known === null && session !== null && invitation !== undefined) {
      await openInvitation(tx, invitation);
      return null;
    }
    const userId =
      invitation === undefined
        ? known
        : await join(deps, context, tx, { identity, known, invitation });
    if (userId === null || (await organizationsOf(tx, userId)).length === 0) throw noOrganization();
    const isRecorded = invitation === undefined; // else the acceptance is
    return { userId, session: await beginSession(deps, context, tx, userId, { isRecorded }) };
  });
  if (started === null)
    return askToConfirm(deps, context, session, { identity, invitation: invitation!, returnTo });
  await finishSignIn(deps, context, started.userId, started.session);
  return returnTo;
}

/**
 * The person who has signed in with an identity before, else the one whom the webhook of the
 * same provider named.
 */
async function knownPerson(
  { oidc }: SessionDeps,
  tx: Queryable,
  identity: OidcPerson,
): Promise<string | null> {
  const userId = await personOfIdentity(tx, identity);
  if (userId !== null || !oidc!.sendsIdentityWebhook) return userId;
  const named = await personOfWebhook(tx, identity.subject);
  if (named !== null) await addIdentity(tx, identity, named);
  return named;
}

/**
 * Makes the person of an identity a member, a new person if it is not known. Returns
 * the person's id.
 */
async function join(
  deps: SessionDeps,
  context: RequestContext,
  tx: Queryable,
  {
    identity,
    known,
    invitation: token,
  }: { identity: OidcPerson; known: string | null; invitation: string },
): Promise<string> {
  const invitation = await openInvitation(tx, token);
  const userId = known ?? (await createUser(tx, identity));
  if (known === null) await addIdentity(tx, identity, userId);
  const name = identity.email ?? identity.name ?? userId;
  await joinOrganization(deps, context, tx, invitation, { id: userId, name });
  return userId;
}

function sendBrowser({ response }: RequestContext, path: string): null {
  response.writeHead(303, { Location: path }).end();
  return null;
}
