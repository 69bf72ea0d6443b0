import { operationsOf } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { bindIdentity, createUser, organizationsOf, personOfIdentity, personOfWebhook } from '@parley/identity';
import {
  type Handler,
  HttpError,
  type NewCookie,
  type RequestContext,
  badRequest,
  conflict,
  notFound,
  readCookie,
  requireHttps,
  setCookie,
} from '@parley/service';
import type { z } from 'zod';
import { OidcError, type OidcPerson, oidcChecksSchema } from '../oidc';
import { clientAddress } from '../sign-in-limit';
import { type LinkDeps, checkInvitation, joinOrganization, openInvitation } from './members';
import { type SessionDeps, beginSession, finishSignIn, noOrganization, signedIn } from './sessions';

interface Handlers {
  beginOidcSignIn: Handler<'beginOidcSignIn'>;
  finishOidcSignIn: Handler<'finishOidcSignIn'>;
}

/**
 * Signing in at an OpenID provider. What has to be the same when the browser returns is in a cookie of the browser, so any
 * process can finish a sign-in.
 */
export const createOidcHandlers = (deps: SessionDeps & LinkDeps): Handlers => ({
  async beginOidcSignIn({ body: { invitation, returnTo } }, context) {
    const oidc = requireOidc(deps);
    requireHttps(context.request, deps.publicUrl);
    if (invitation !== undefined) await checkInvitation(deps, context, invitation);
    const { url, checks } = await oidc.begin();
    const started: Started = { checks, invitation, returnTo };
    setCookie(context, cookieOf(Buffer.from(JSON.stringify(started)).toString('base64url')), deps.publicUrl);
    return { url };
  },

  async finishOidcSignIn({ query: { state } }, context) {
    const oidc = requireOidc(deps);
    const { request } = context;
    const started = startedIn(request);
    if (started === null || state !== started.checks.state)
      throw badRequest(
        'This sign-in has expired or was begun in another browser. Begin again',
        undefined,
        'sign_in_expired',
      );
    // Each attempt calls the provider. An attempt has a state of its own, so only the network address counts.
    await deps.admitSignIn(started.checks.state, clientAddress(request, deps.keyLimit));
    setCookie(context, cookieOf(''), deps.publicUrl);
    const isRecorded = started.invitation === undefined; // else the acceptance is
    try {
      const person = await oidc.finish(request.url!.slice(request.url!.indexOf('?')), started.checks);
      const { userId, session } = await deps.db.transaction(async (tx) => {
        const userId = await personOf(deps, context, tx, person, started.invitation);
        if ((await organizationsOf(tx, userId)).length === 0) throw noOrganization();
        return { userId, session: await beginSession(deps, context, tx, userId, { isRecorded }) };
      });
      await finishSignIn(deps, context, userId, session);
      return sendBrowser(context, started.returnTo);
    } catch (error) {
      const isRefusal = error instanceof OidcError || (error instanceof HttpError && error.status < 500);
      if (!isRefusal) throw error;
      context.log.warn({ err: error }, 'a sign-in at the OpenID provider failed');
      const url = new URL(started.returnTo, 'http://localhost');
      url.searchParams.set('error', error.code);
      return sendBrowser(context, url.pathname + url.search + url.hash);
    }
  },
});

/** On plain HTTP another port of this machine can write the cookie, so it is checked like a request. */
const startedSchema = operationsOf.manage.beginOidcSignIn.body.extend({ checks: oidcChecksSchema });
type Started = z.infer<typeof startedSchema>;

const cookieName = 'parley_oidc';
/** Ten minutes are enough to sign in at the provider. Empty: the cookie is removed. */
const cookieOf = (value: string): NewCookie => ({ name: cookieName, value, maxAgeSeconds: value === '' ? 0 : 600 });

function startedIn(request: RequestContext['request']): Started | null {
  try {
    return startedSchema.parse(JSON.parse(Buffer.from(readCookie(request, cookieName) ?? '', 'base64url').toString()));
  } catch {
    return null;
  }
}

/**
 * The person of an identity. An identity that is not known yet becomes the one of the person whom the webhook of the same
 * provider named, else of the person who holds the invitation: the one who is signed in already, or a new one.
 */
async function personOf(
  deps: SessionDeps,
  context: RequestContext,
  tx: Queryable,
  person: OidcPerson,
  token: string | undefined,
): Promise<string> {
  let userId = await personOfIdentity(tx, person);
  const isKnown = userId !== null;
  if (userId === null && deps.oidc!.sendsIdentityWebhook) userId = await personOfWebhook(tx, person.subject);
  if (token !== undefined) {
    const invitation = await openInvitation(tx, token);
    userId ??= (await signedIn(tx, context.request))?.id ?? (await createUser(tx, person));
    await joinOrganization(deps, context, tx, invitation, { id: userId, name: person.email ?? person.name ?? userId });
  }
  if (userId === null) throw noOrganization();
  if (!isKnown && !(await bindIdentity(tx, person, userId)))
    throw conflict('This identity belongs to another person', 'identity_taken');
  return userId;
}

function requireOidc({ oidc }: SessionDeps) {
  if (oidc === null) throw notFound('No OpenID provider is configured', 'no_oidc');
  return oidc;
}

function sendBrowser({ response }: RequestContext, path: string): null {
  response.writeHead(303, { Location: path, 'Cache-Control': 'no-store' }).end();
  return null;
}
