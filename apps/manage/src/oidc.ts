import { findUnstorable } from '@parley/contracts';
import type { OidcIdentity } from '@parley/identity';
import { ConfigError, unavailable } from '@parley/service';
import type * as openidClient from 'openid-client';
import { z } from 'zod';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  clientSecret?: string;
  /** The provider's name on the button. */
  name: string;
  /** The provider also sends the webhook of people, so its subjects are the ids of people there. */
  sendsIdentityWebhook: boolean;
}

/** What has to return from the provider unchanged. */
export const oidcChecksSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
});
export type OidcChecks = z.infer<typeof oidcChecksSchema>;

/** Who signed in, as the provider says. The e-mail address is shown and never identifies anyone. */
export interface OidcPerson extends OidcIdentity {
  email: string | null;
  name: string | null;
}

interface OidcConfig {
  PUBLIC_URL: string;
  OIDC_ISSUER?: string;
  OIDC_CLIENT_ID?: string;
  OIDC_CLIENT_SECRET?: string;
  OIDC_NAME: string;
  OIDC_SENDS_IDENTITY_WEBHOOK: 'true' | 'false';
}

export type Oidc = ReturnType<typeof createOidc>;

/**
 * The person or the provider refused, the provider does not answer, or its answer does not
 * pass the checks.
 */
export class OidcError extends Error {
  constructor(
    readonly code: 'sign_in_cancelled' | 'sign_in_failed',
    cause: unknown,
  ) {
    super('signing in at the OpenID provider failed', { cause });
  }
}

/** The OpenID provider of a configuration; null when there is none. */
export function oidcOf(config: OidcConfig): Oidc | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, PUBLIC_URL: publicUrl } = config;
  if (issuer === undefined) return null;
  if (clientId === undefined)
    throw new ConfigError(['OIDC_CLIENT_ID: is required with OIDC_ISSUER']);
  if (
    issuer.startsWith('http:') &&
    !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(issuer).hostname)
  )
    throw new ConfigError(['OIDC_ISSUER: must be an https address']);
  const settings = {
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    name: config.OIDC_NAME,
    sendsIdentityWebhook: config.OIDC_SENDS_IDENTITY_WEBHOOK === 'true',
  };
  return createOidc(settings, `${publicUrl}/v1/sign-in/oidc/callback`);
}

type Client = typeof openidClient;

/** Loaded at the first sign-in: it takes 4 MB (docs/adr/0076). */
const loadClient = (): Promise<Client> => import('openid-client');

/** Keys and addresses of the provider are read again after this time. */
const discoveryMs = 60 * 60_000;
const timeoutSeconds = 5;

/**
 * Signs people in at an OpenID provider, with the authorization code flow, PKCE, a nonce and a
 * check of the token's signature. `redirectUrl`: where the provider sends the browser back to.
 */
export function createOidc(
  { issuer, clientId, clientSecret, ...settings }: OidcSettings,
  redirectUrl: string,
) {
  let discovered: { by: Promise<openidClient.Configuration>; atMs: number } | undefined;

  /** One discovery for all requests. A failed one is not kept. */
  function discover(client: Client): Promise<openidClient.Configuration> {
    if (discovered !== undefined && Date.now() - discovered.atMs < discoveryMs)
      return discovered.by;
    const isPlain = issuer.startsWith('http:'); // only on this machine: see `oidcOf`
    const by = client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      authentication(client, clientSecret),
      {
        timeout: timeoutSeconds,
        execute: [
          client.enableNonRepudiationChecks,
          ...(isPlain ? [client.allowInsecureRequests] : []),
        ],
      },
    );
    const current = (discovered = { by, atMs: Date.now() });
    by.catch(() => {
      if (discovered === current) discovered = undefined;
    });
    return by;
  }

  return {
    ...settings,
    /**
     * The address at the provider to which the browser is sent, and what has to be checked
     * when it returns.
     */
    async begin(): Promise<{ url: string; checks: OidcChecks }> {
      const client = await loadClient();
      const provider = await discover(client).catch(() => {
        throw unavailable('The OpenID provider is temporarily unavailable', 2, 'oidc_unavailable');
      });
      const [state, nonce, verifier] = [
        client.randomState(),
        client.randomNonce(),
        client.randomPKCECodeVerifier(),
      ];
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUrl,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, checks: { state, nonce, verifier } };
    },
    /** The person of the provider's answer, the query string with `?`. Throws OidcError. */
    async finish(query: string, { state, nonce, verifier }: OidcChecks): Promise<OidcPerson> {
      const client = await loadClient();
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      };
      try {
        const url = new URL(redirectUrl + query);
        const provider = await discover(client);
        const claims = (await client.authorizationCodeGrant(provider, url, checks)).claims()!;
        const { iss, sub, name } = claims;
        // Members see the address as the person's own. Some providers send the claim as a text.
        const isUnverified = String(claims.email_verified) === 'false';
        const email = isUnverified ? undefined : claims.email;
        if (!isIdentifier(iss) || !isIdentifier(sub))
          throw new Error('The issuer or the subject of the token is unusable');
        return {
          issuer: iss,
          subject: sub,
          email: shownText(email, 254),
          name: shownText(name, 200),
        };
      } catch (error) {
        const isCancelled =
          error instanceof client.AuthorizationResponseError && error.error === 'access_denied';
        throw new OidcError(isCancelled ? 'sign_in_cancelled' : 'sign_in_failed', error);
      }
    },
  };
}

/**
 * How Parley proves itself: in the header, which every provider has to accept unless it
 * lists only the form.
 */
const authentication = (client: Client, secret: string | undefined): openidClient.ClientAuth =>
  secret === undefined
    ? client.None()
    : (server, ...request) => {
        const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const authenticate = methods.includes('client_secret_basic')
          ? client.ClientSecretBasic
          : client.ClientSecretPost;
        authenticate(secret)(server, ...request);
      };

/**
 * What identifies is stored unchanged or refused. Its length is that of a subject in OpenID Connect
 * Core 1.0, section 2.
 */
const isIdentifier = (claim: unknown): claim is string =>
  typeof claim === 'string' &&
  claim !== '' &&
  claim.length <= 255 &&
  findUnstorable(claim) === null;

/**
 * Control characters, such as NUL, which PostgreSQL does not store, and those that change the
 * direction of a text.
 */
const unshown = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A claim that people read. It identifies no one, so what cannot be stored or shown is left out.
 */
function shownText(claim: unknown, maxLength: number): string | null {
  if (typeof claim !== 'string') return null;
  const text = claim.toWellFormed().replace(unshown, '').trim().slice(0, maxLength).toWellFormed();
  return text === '' ? null : text;
}
