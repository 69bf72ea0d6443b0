import { createInvitation } from '@parley/identity';
import type { PersonRole } from '@parley/contracts';
import { type OidcServer, startProviderServer } from '@parley/testing';
import request from 'supertest';
import { createManageApp } from './app';
import { type OidcSettings, createOidc, oidcOf } from './oidc';
import { type TestApi, type World, createTestApi, oidcSettingsOf } from './testing/create-test-api';

let api: TestApi;
let world: World;
let provider: OidcServer;
let people = 0;
beforeAll(async () => {
  api = await createTestApi();
  provider = api.oidc;
});
beforeEach(async () => {
  world = await api.world();
  people += 1;
  provider.person = {
    sub: `subject-${people}`,
    email: `ana-${people}@example.com`,
    name: 'Ana Rojas',
  };
  provider.claims = {};
});
afterEach(() => expect(provider.problems).toEqual([]));
afterAll(() => api.close());

const https = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const redirectUrl = 'https://parley.example/v1/sign-in/oidc/callback';
const cookiesOf = ({ headers }: request.Response): Record<string, string> =>
  Object.fromEntries(
    ((headers['set-cookie'] ?? []) as unknown as string[]).map(
      (cookie) => cookie.split(';')[0]!.split('=') as [string, string],
    ),
  );
const sessionOf = (response: request.Response) => cookiesOf(response)['__Host-parley_session'];
const me = (token: string) =>
  api.call('get', '/v1/me', { headers: { Cookie: `__Host-parley_session=${token}` } });
const invite = async (role: PersonRole = 'member') =>
  (await createInvitation(api.db, world.scope, { role, minutes: 10 })).token;
const signInActions = async () =>
  (await world.call('get', '/v1/audit-log')).body.data.map(
    ({ action }: { action: string }) => action,
  );

/**
 * Signs the provider's person in, as a browser does, up to the address to which the provider sends
 * it back: the result opens it.
 */
async function beginSignIn(
  body: object = {},
  { cookie = '', app = createManageApp(api.deps), change = (url: string) => url } = {},
) {
  const begun = await request(app)
    .post('/v1/sign-in/oidc')
    .set(https)
    .set('Cookie', cookie)
    .send(body)
    .expect(200);
  const back = new URL(change(await provider.signIn(begun.body.url)));
  const own = `__Host-parley_oidc=${cookiesOf(begun)['__Host-parley_oidc']}`;
  return () =>
    request(app)
      .get(back.pathname + back.search)
      .set('X-Forwarded-Proto', 'https')
      .set('Cookie', [own, cookie].filter(Boolean).join('; '));
}
const signIn = async (...given: Parameters<typeof beginSignIn>): Promise<request.Response> =>
  (await beginSignIn(...given))();
const appWith = (settings: Partial<OidcSettings>) =>
  createManageApp({
    ...api.deps,
    oidc: createOidc({ ...oidcSettingsOf(provider), ...settings }, redirectUrl),
  });

test('a link of an invitation binds the subject that first signs in through it; then it signs in without one', async () => {
  const invitation = await invite('admin');
  const joined = await signIn({ invitation, returnTo: '/console/?tab=1#top' });
  expect([joined.status, joined.headers.location]).toEqual([303, '/console/?tab=1#top']);
  expect(joined.headers['set-cookie']![0]).toMatch(
    /^__Host-parley_oidc=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/,
  );
  const { body } = await me(sessionOf(joined)!).expect(200);
  expect(body).toMatchObject({
    person: { email: provider.person.email, name: 'Ana Rojas', hasPassword: false },
    organizations: [{ id: world.scope.organizationId, role: 'admin' }],
  });
  // The address at the provider may change. The subject does not.
  provider.person = { sub: provider.person.sub, email: 'other@example.com' };
  const again = await signIn();
  expect(again.headers.location).toBe('/console/');
  expect((await me(sessionOf(again)!).expect(200)).body.person.id).toBe(body.person.id);
  expect(await signInActions()).toEqual(['session.started', 'invitation.accepted']);
  expect((await signIn({ invitation: await invite() })).headers.location).toBe('/console/');
});

test('an e-mail address never identifies a person', async () => {
  const { email } = await api.person(world, 'admin');
  provider.person.email = email;
  const refused = await signIn();
  expect([refused.status, refused.headers.location]).toEqual([
    303,
    '/console/?error=no_organization',
  ]);
  expect(sessionOf(refused)).toBeUndefined();
  // With an invitation the subject is another person with the same address.
  const joined = await signIn({ invitation: await invite() });
  expect((await me(sessionOf(joined)!).expect(200)).body.organizations[0].role).toBe('member');
});

test('a used link does not work again, also for two people at once', async () => {
  const invitation = await invite();
  const [first, second] = [
    await signIn({ invitation }),
    await api.call('post', '/v1/sign-in/oidc', { body: { invitation }, headers: https }),
  ];
  expect(sessionOf(first)).toBeDefined();
  expect([second.status, second.body.code]).toEqual([410, 'invitation_ended']);
  const shared = await invite();
  const opens: (() => request.Test)[] = [];
  for (const name of ['a', 'b']) {
    provider.person = { sub: `${name}-${people}` };
    opens.push(await beginSignIn({ invitation: shared }));
  }
  const both = await Promise.all(opens.map((open) => open()));
  expect(both.map(({ headers }) => headers.location).sort()).toEqual([
    '/console/',
    '/console/?error=invitation_ended',
  ]);
});

test('people of the identity webhook sign in without an invitation, if the provider sends it', async () => {
  const { id } = await api.person(world, 'member');
  const isOf = (verified: boolean) =>
    api.db.pool.query('update users set external_id = $2, verified = $3 where id = $1', [
      id,
      provider.person.sub,
      verified,
    ]);
  await isOf(true);
  expect((await signIn()).headers.location).toBe('/console/?error=no_organization');
  const app = appWith({ sendsIdentityWebhook: true });
  await isOf(false); // an unsigned event names no one
  expect((await signIn({}, { app })).headers.location).toBe('/console/?error=no_organization');
  await isOf(true);
  expect((await me(sessionOf(await signIn({}, { app }))!).expect(200)).body.person.id).toBe(id);
  await api.db.pool.query('update users set deleted_at = now() where id = $1', [id]);
  expect((await signIn({}, { app })).headers.location).toBe('/console/?error=no_organization');
  // The identity of a deleted person can be bound to a new one.
  expect((await signIn({ invitation: await invite() }, { app })).headers.location).toBe(
    '/console/',
  );
});

test.each([
  ['refused', 'sign_in_cancelled'],
  ['other_nonce', 'sign_in_failed'],
  ['other_key', 'sign_in_failed'],
  ['other_issuer', 'sign_in_failed'],
  ['other_client', 'sign_in_failed'],
  ['expired', 'sign_in_failed'],
  ['broken', 'sign_in_failed'],
] as const)('an answer of the provider that is %s begins no session', async (fault, code) => {
  const invitation = await invite();
  provider.faults.push(fault);
  const refused = await signIn({ invitation, returnTo: '/a?b=1#c' });
  expect([refused.status, refused.headers.location]).toEqual([303, `/a?b=1&error=${code}#c`]);
  expect(sessionOf(refused)).toBeUndefined();
  expect(provider.faults).toEqual([]);
  expect((await signIn({ invitation })).headers.location).toBe('/console/');
});

const subjects: [string, unknown][] = [
  ['with NUL', 'a\u0000b'],
  ['with half a surrogate pair', 'a\ud800'],
  ['that is empty', ''],
  ['that is too long', 'x'.repeat(256)],
  ['that is a number', 7],
  ['that is an object', { toString: 'x' }],
  ['that is null', null],
  ['that is missing', undefined],
];
test.each(subjects)('a subject %s begins no session', async (_which, sub) => {
  const invitation = await invite();
  provider.claims = { sub };
  const refused = await signIn({ invitation });
  expect([refused.status, refused.headers.location]).toEqual([
    303,
    '/console/?error=sign_in_failed',
  ]);
  expect(sessionOf(refused)).toBeUndefined();
  provider.claims = { sub: `${'x'.repeat(250)}${people}` };
  expect((await signIn({ invitation })).headers.location).toBe('/console/');
});

const shownClaims: [string, Record<string, unknown>, object][] = [
  [
    'with NUL',
    { name: 'Ana\u0000 Rojas', email: 'a\u0000@example.com' },
    { name: 'Ana Rojas', email: 'a@example.com' },
  ],
  [
    'with half a surrogate pair',
    { name: 'Ana \ud83d', email: '\udc00' },
    { name: 'Ana \ufffd', email: '\ufffd' },
  ],
  [
    'that is cut in a surrogate pair',
    { name: `${'x'.repeat(199)}🎉` },
    { name: `${'x'.repeat(199)}\ufffd` },
  ],
  ['that is too long', { email: `${'x'.repeat(2_000)}@example.com` }, { email: 'x'.repeat(254) }],
  [
    'that changes the direction of texts',
    { name: '\u202eana\u2066', email: '\u200f' },
    { name: 'ana', email: null },
  ],
  ['that has another type', { name: ['Ana'], email: { a: 1 } }, { name: null, email: null }],
  ['that is blank', { name: '  ', email: '' }, { name: null, email: null }],
  [
    'that the provider has not verified',
    { name: 'Ana', email: 'ceo@example.com', email_verified: false },
    { name: 'Ana', email: null },
  ],
  [
    'that the provider has not verified, as it says in a text,',
    { name: 'Ana', email: 'ceo@example.com', email_verified: 'false' },
    { name: 'Ana', email: null },
  ],
];
test.each(shownClaims)(
  'a name or address %s is stored as a text that can be shown',
  async (_which, claims, shown) => {
    provider.claims = claims;
    const joined = await signIn({ invitation: await invite() });
    expect(joined.headers.location).toBe('/console/');
    expect((await me(sessionOf(joined)!).expect(200)).body.person).toMatchObject(shown);
    expect((await world.call('get', '/v1/audit-log').expect(200)).body.data).toHaveLength(1);
  },
);

describe('the answer of a provider', () => {
  const finish = (query: string, cookie: string) =>
    api.call('get', `/v1/sign-in/oidc/callback${query}`, {
      headers: { Cookie: cookie, 'X-Forwarded-Proto': 'https' },
    });

  test('is used by the browser that began, once', async () => {
    const invitation = await invite();
    const begin = () =>
      api.call('post', '/v1/sign-in/oidc', { body: { invitation }, headers: https }).expect(200);
    const [mine, other] = [await begin(), await begin()];
    const cookie = (response: request.Response) =>
      `__Host-parley_oidc=${cookiesOf(response)['__Host-parley_oidc']}`;
    const { search } = new URL(await provider.signIn(mine.body.url));
    const { state } = Object.fromEntries(new URLSearchParams(search));
    const unsealed = { checks: { state, nonce: 'n', verifier: 'v' }, returnTo: '/console/' };
    for (const wrong of [
      '',
      cookie(other),
      `__Host-parley_oidc=${Buffer.from(JSON.stringify(unsealed)).toString('base64url')}`,
      '__Host-parley_oidc=bm90IGpzb24',
      cookie(mine).replace('__Host-', ''),
      cookie(mine).replace('__Host-parley_oidc', '__Host-parley_identity'),
      `${cookie(mine)}; ${cookie(mine)}`,
      `__Host-parley_oidc=${'x'.repeat(8_000)}`,
      `=; ;__Host-parley_oidc;=${cookie(mine)}`,
    ]) {
      const { body } = await finish(search, wrong).expect(400);
      expect(body.code).toBe('sign_in_expired');
    }
    expect(provider.exchanged).toBe(await exchangedBy(() => finish('', cookie(mine)).expect(400)));
    await finish(search, cookie(mine))
      .expect(303, /^$/)
      .expect('Location', '/console/')
      .expect('Cache-Control', 'no-store');
    await finish(search, cookie(mine))
      .expect(303)
      .expect('Location', '/console/?error=sign_in_failed');
  });

  const exchangedBy = async (call: () => PromiseLike<unknown>) => {
    await call();
    return provider.exchanged;
  };

  test('with a code of another sign-in is refused by the check of PKCE', async () => {
    const stolen = new URL(
      await provider.signIn(
        (await api.call('post', '/v1/sign-in/oidc', { body: {}, headers: https })).body.url,
      ),
    );
    const change = (url: string) => {
      const back = new URL(url);
      back.searchParams.set('code', stolen.searchParams.get('code')!);
      return back.href;
    };
    expect((await signIn({}, { change })).headers.location).toBe('/console/?error=sign_in_failed');
    expect(provider.problems.splice(0)).toEqual(['wrong verifier or redirect_uri']);
  });
});

test('the browser returns only to a path of this address', async () => {
  const begin = (returnTo: string) =>
    api.call('post', '/v1/sign-in/oidc', { body: { returnTo }, headers: https });
  for (const returnTo of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'console',
    '',
    // Browsers and the URL parser shorten these to //evil.example.
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    // A header cannot have these.
    '/console/\u0001',
    '/console/\u007f',
    '/console/日本',
  ])
    await begin(returnTo).expect(400);
  await begin('/console/#/threads').expect(200);
});

test('is refused over plain HTTP, from another site, and beyond the limit of the network address', async () => {
  const begin = (headers: Record<string, string>, body = {}) =>
    api.call('post', '/v1/sign-in/oidc', { body, headers });
  expect(
    (await begin({ 'Sec-Fetch-Site': 'same-origin', Host: 'shop.example' }).expect(403)).body.code,
  ).toBe('https_required');
  expect((await begin({ ...https, 'Sec-Fetch-Site': 'cross-site' }).expect(403)).body.code).toBe(
    'cross_site',
  );
  expect((await begin(https, { invitation: 'a'.repeat(43) }).expect(404)).body.code).toBe(
    'invitation_not_found',
  );
  const attempts: string[] = [];
  const admitSignIn = async (_state: string, address: string) => void attempts.push(address);
  await signIn({}, { app: createManageApp({ ...api.deps, admitSignIn }) });
  expect(attempts).toHaveLength(1);
});

test('without a provider there is no such way to sign in', async () => {
  const app = createManageApp({ ...api.deps, oidc: null });
  expect((await request(app).get('/v1/sign-in').expect(200)).body).toEqual({
    password: true,
    oidc: null,
    passwordResetByEmail: false,
  });
  expect((await api.call('get', '/v1/sign-in').expect(200)).body).toMatchObject({
    oidc: { name: 'Acme' },
  });
  await request(app).post('/v1/sign-in/oidc').set(https).send({}).expect(404);
  await request(app).get('/v1/sign-in/oidc/callback').expect(404);
});

test('a provider that does not answer is reported, and asked again by the next request', async () => {
  let isUp = false;
  const silent = await startProviderServer(async ({ path }) => {
    if (!isUp) return 'drop';
    const { body } = { body: await (await fetch(provider.url + path)).json() } as {
      body: Record<string, string>;
    };
    return { status: 200, body: { ...body, issuer: silent.url } };
  });
  const app = appWith({ issuer: silent.url });
  const begin = () => request(app).post('/v1/sign-in/oidc').set(https).send({});
  const { body, headers } = await begin().expect(503);
  expect([body.code, headers['retry-after']]).toEqual(['oidc_unavailable', '2']);
  isUp = true;
  await begin().expect(200);
  await silent.stop();
});

test('the configuration names a client, and HTTPS except on this machine', () => {
  const config = {
    PUBLIC_URL: 'https://parley.example',
    OIDC_NAME: 'Acme',
    OIDC_SENDS_IDENTITY_WEBHOOK: 'false',
  } as const;
  expect(oidcOf(config)).toBeNull();
  expect(() => oidcOf({ ...config, OIDC_ISSUER: 'https://id.example.com' })).toThrow(
    'OIDC_CLIENT_ID',
  );
  const withClient = { ...config, OIDC_CLIENT_ID: 'parley' };
  expect(() => oidcOf({ ...withClient, OIDC_ISSUER: 'http://id.example.com' })).toThrow(
    'must be an https address',
  );
  for (const issuer of ['https://id.example.com', 'http://127.0.0.1:9', 'http://localhost'])
    expect(oidcOf({ ...withClient, OIDC_ISSUER: issuer })).toMatchObject({ name: 'Acme' });
});
