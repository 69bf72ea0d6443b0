import { createHash, randomUUID } from 'node:crypto';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { type ProviderAnswer, type ProviderRequest, startProviderServer } from './provider-server';

export interface OidcServer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Who signs in next. */
  person: { sub: string; email?: string; name?: string };
  /** Claims of the next tokens in place of the right ones, of any type. */
  claims: Record<string, unknown>;
  /** What the next answers get wrong. `refused`: the person cancels. */
  faults: (
    | 'refused'
    | 'other_nonce'
    | 'other_key'
    | 'other_issuer'
    | 'other_client'
    | 'expired'
    | 'broken'
    | 'drop'
  )[];
  /** What clients did against the protocol. */
  problems: string[];
  /** Number of codes that were exchanged. */
  exchanged: number;
  /**
   * Signs `person` in, as a browser that opens `url` does. Returns the address to which the
   * browser is sent back.
   */
  signIn(url: string): Promise<string>;
  stop(): Promise<void>;
}

interface Grant {
  challenge: string;
  redirectUri: string;
  nonce: string;
  person: OidcServer['person'];
}

/**
 * Starts an OpenID provider (OpenID Connect Core 1.0, authorization code flow with PKCE) that
 * checks what clients send. Each code works once.
 */
export async function startOidcServer(): Promise<OidcServer> {
  const [key, otherKey] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = { ...(await exportJWK(key.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const state: Omit<OidcServer, 'url' | 'stop' | 'signIn'> = {
    clientId: 'parley',
    clientSecret: 'secret of the client: %',
    person: { sub: 'person-1' },
    claims: {},
    faults: [],
    problems: [],
    exchanged: 0,
  };
  const server = await startProviderServer((request) => {
    if (state.faults[0] === 'drop') return 'drop';
    if (request.path === '/.well-known/openid-configuration')
      return { status: 200, body: metadata() };
    if (request.path === '/keys') return { status: 200, body: { keys: [jwk] } };
    if (request.path === '/authorize') return authorize(request);
    if (request.path === '/token') return exchange(request);
    return { status: 404 };
  });

  const metadata = () => ({
    issuer: server.url,
    authorization_endpoint: `${server.url}/authorize`,
    token_endpoint: `${server.url}/token`,
    jwks_uri: `${server.url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
  });

  function authorize({ query }: ProviderRequest): ProviderAnswer {
    const of = (name: string) => query.get(name) ?? '';
    const expected = {
      response_type: 'code',
      client_id: state.clientId,
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(expected))
      if (of(name) !== value) state.problems.push(`${name} is ${of(name)}`);
    if (!of('scope').split(' ').includes('openid')) state.problems.push('no scope openid');
    for (const name of ['state', 'nonce', 'code_challenge'])
      if (of(name).length < 43) state.problems.push(`weak ${name}`);
    const back = new URL(of('redirect_uri'));
    back.searchParams.set('state', of('state'));
    if (state.faults[0] === 'refused') {
      state.faults.shift();
      back.searchParams.set('error', 'access_denied');
    } else {
      const code = randomUUID();
      const [challenge, redirectUri, nonce] = [
        of('code_challenge'),
        of('redirect_uri'),
        of('nonce'),
      ];
      grants.set(code, { challenge, redirectUri, nonce, person: state.person });
      back.searchParams.set('code', code);
    }
    return { status: 302, headers: { Location: back.href } };
  }

  async function exchange({ bytes, headers }: ProviderRequest): Promise<ProviderAnswer> {
    const form = new URLSearchParams(bytes.toString());
    const refuse = (error: string) => ({ status: 400, body: { error } });
    const fault = state.faults.shift();
    if (fault === 'broken') return { status: 500 };
    const basic = [state.clientId, state.clientSecret].map((part) =>
      new URLSearchParams({ '': part }).toString().slice(1),
    );
    if (headers.authorization !== `Basic ${Buffer.from(basic.join(':')).toString('base64')}`) {
      state.problems.push('wrong client');
      return { status: 401, body: { error: 'invalid_client' } };
    }
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    if (grant === undefined || form.get('grant_type') !== 'authorization_code')
      return refuse('invalid_grant');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (challenge !== grant.challenge || form.get('redirect_uri') !== grant.redirectUri) {
      state.problems.push('wrong verifier or redirect_uri');
      return refuse('invalid_grant');
    }
    state.exchanged += 1;
    const nonce = fault === 'other_nonce' ? 'other' : grant.nonce;
    const token = new SignJWT({ ...grant.person, nonce, ...state.claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(fault === 'other_issuer' ? 'https://other.example' : server.url)
      .setAudience(fault === 'other_client' ? 'other' : state.clientId)
      .setIssuedAt()
      .setExpirationTime(fault === 'expired' ? '-2m' : '5m');
    const idToken = await token.sign(fault === 'other_key' ? otherKey.privateKey : key.privateKey);
    return {
      status: 200,
      body: { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken },
    };
  }

  return Object.assign(state, {
    url: server.url,
    stop: server.stop,
    async signIn(url: string) {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      if (status !== 302) throw new Error(`the provider answered ${status}`);
      return headers.get('location')!;
    },
  });
}
