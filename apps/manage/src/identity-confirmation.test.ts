import { createInvitation, endSessions } from '@parley/identity';
import type { OidcServer } from '@parley/testing';
import type request from 'supertest';
import { createManageApp } from './app';
import { createSealedCookies } from './sealed-cookies';
import { type Browser, createBrowser } from './testing/browser';
import {
  type Person,
  type TestApi,
  type World,
  createTestApi,
  testSecretsKey,
} from './testing/create-test-api';

let api: TestApi;
let world: World;
let provider: OidcServer;
let subjects = 0;
beforeAll(async () => {
  api = await createTestApi();
  provider = api.oidc;
});
beforeEach(async () => {
  world = await api.world();
  subjects += 1;
  provider.person = { sub: `identity-${subjects}`, email: 'ana@id.example', name: 'Ana at Acme' };
});
afterEach(() => expect(provider.problems).toEqual([]));
afterAll(() => api.close());

const session = '__Host-parley_session';
const begun = '__Host-parley_oidc';
const waiting = '__Host-parley_identity';
const confirmation = '/v1/sign-in/oidc/confirmation';
const tokenOf = ({ headers }: Person) => headers.Cookie!.slice(headers.Cookie!.indexOf('=') + 1);
const browserOf = (person: Person, app = createManageApp(api.deps)) =>
  createBrowser(app, { [session]: tokenOf(person) });
const newBrowser = (app = createManageApp(api.deps)) => createBrowser(app);
/** The management service ten minutes later, or with other keys. */
const appWith = (secretsKey: string, laterMs = 0) =>
  createManageApp({
    ...api.deps,
    sealedCookies: createSealedCookies(secretsKey, () => Date.now() + laterMs),
  });
const invite = async (of = world) =>
  (await createInvitation(api.db, of.scope, { role: 'member', minutes: 10 })).token;
/** Confirms what the browser is asked now, or an id that it was shown. */
const confirm = async (browser: Browser, id?: string) =>
  browser.change('post', confirmation, {
    id: id ?? (await browser.get(confirmation)).body.id ?? 'unknown',
  });
const codeOf = async (test: PromiseLike<request.Response>) => (await test).body.code;
const actionsIn = async (of: World) =>
  (await of.call('get', '/v1/audit-log')).body.data.map(({ action }: { action: string }) => action);
/** The ids of the people whom the provider's identities of this test belong to. */
const ownersOf = async (subject = provider.person.sub): Promise<string[]> => {
  const { rows } = await api.db.pool.query<{ id: string }>(
    'select user_id as id from user_identities where subject = $1',
    [subject],
  );
  return rows.map(({ id }) => id);
};
const whoIs = async (browser: Browser) => (await browser.get('/v1/me').expect(200)).body.person.id;

/**
 * A person of another organization whose browser has come back from the provider
 * with an invitation.
 */
async function asked(): Promise<{
  person: Person;
  browser: Browser;
  home: World;
  invitation: string;
}> {
  const home = await api.world();
  const person = await api.person(home, 'admin');
  const browser = browserOf(person);
  const invitation = await invite();
  await browser
    .get(await browser.signInAt(provider, { invitation, returnTo: '/console/?tab=1' }))
    .expect(303);
  return { person, browser, home, invitation };
}

test('an unknown identity is added to the account after the person who is signed in has confirmed it', async () => {
  const { person, browser, home, invitation } = await asked();
  // Until then nothing has changed.
  expect([await ownersOf(), await whoIs(browser), await actionsIn(home)]).toEqual([
    [],
    person.id,
    [],
  ]);
  await newBrowser().change('post', '/v1/invitations/show', { token: invitation }).expect(200);
  expect((await browser.get(confirmation).expect(200)).body).toEqual({
    id: expect.any(String),
    person: {
      id: person.id,
      email: person.email,
      name: 'Ana Rojas',
      hasPassword: true,
      isEmailProved: true,
    },
    identity: {
      provider: 'Acme',
      issuer: provider.url,
      email: 'ana@id.example',
      name: 'Ana at Acme',
    },
    organization: { slug: expect.any(String), name: world.scope.organizationId },
    role: 'member',
  });
  const confirmed = await confirm(browser);
  expect(confirmed.body).toEqual({ returnTo: '/console/?tab=1' });
  expect([await ownersOf(), await whoIs(browser)]).toEqual([[person.id], person.id]);
  expect([await actionsIn(home), await actionsIn(world)]).toEqual([
    ['identity.added'],
    ['invitation.accepted'],
  ]);
  expect(browser.cookies.has(waiting)).toBe(false);
  expect(await codeOf(confirm(browser))).toBe('sign_in_expired');

  const elsewhere = newBrowser();
  const back = await elsewhere.get(await elsewhere.signInAt(provider));
  expect([back.headers.location, await whoIs(elsewhere)]).toEqual(['/console/', person.id]);
});

test('the browser is sent to the page that asks, with a cookie that only this host gets and no script reads', async () => {
  const person = await api.person(world, 'member');
  const browser = browserOf(person);
  const back = await browser
    .get(await browser.signInAt(provider, { invitation: await invite() }))
    .expect(303);
  expect([back.headers.location, back.headers['cache-control']]).toEqual([
    '/console/#/confirm-identity',
    'no-store',
  ]);
  expect(back.headers['set-cookie']).toEqual([
    `${begun}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`,
    expect.stringMatching(
      /^__Host-parley_identity=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    ),
  ]);
  expect(String(back.headers['set-cookie'])).not.toContain(session);
});

test('a person who declines keeps the account and the invitation as they are', async () => {
  const { browser, invitation } = await asked();
  await browser.change('delete', confirmation).expect(200, { success: true });
  expect([...browser.cookies.keys()]).toEqual([session]);
  expect(await codeOf(confirm(browser))).toBe('sign_in_expired');
  expect(await ownersOf()).toEqual([]);
  await browser.change('post', '/v1/invitations/show', { token: invitation }).expect(200);
});

test('a page of another site neither confirms nor declines', async () => {
  const { browser } = await asked();
  const foreign: Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
  ];
  for (const headers of foreign)
    for (const method of ['post', 'delete'] as const)
      expect(await codeOf(browser.change(method, confirmation, {}, headers))).toBe('cross_site');
  await browser.get(confirmation).expect(200);
  expect([await ownersOf(), browser.cookies.has(waiting)]).toEqual([[], true]);
});

test('an identity of a name that is very long fits into a cookie', async () => {
  const path = `/console/?q=${'x'.repeat(980)}`;
  provider.person = {
    sub: '語'.repeat(255),
    email: `${'語'.repeat(240)}@example.com`,
    name: '語'.repeat(200),
  };
  const browser = browserOf(await api.person(world, 'member'));
  await browser.get(
    await browser.signInAt(provider, { invitation: await invite(), returnTo: path }),
  );
  expect(waiting.length + browser.cookies.get(waiting)!.length).toBeLessThanOrEqual(4_096);
  const { identity } = (await browser.get(confirmation).expect(200)).body;
  expect(identity).toMatchObject({ email: `${'語'.repeat(99)}…`, name: `${'語'.repeat(99)}…` });
  expect((await confirm(browser)).body.returnTo).toBe(path);
  expect(await ownersOf()).toHaveLength(1);
});

describe('what waits for a confirmation', () => {
  test('ends with the invitation', async () => {
    const { browser, invitation } = await asked();
    const { id } = (await browser.get(confirmation).expect(200)).body;
    await newBrowser()
      .change('post', '/v1/invitations/accept', {
        token: invitation,
        email: 'x@x.example',
        password: 'long enough 1',
      })
      .expect(201);
    expect(await codeOf(browser.get(confirmation))).toBe('invitation_ended');
    expect(await codeOf(confirm(browser, id))).toBe('invitation_ended');
    expect(await ownersOf()).toEqual([]);
  });

  test('is refused when the identity has become that of another person, and the invitation is kept', async () => {
    const { browser, person, invitation } = await asked();
    const other = newBrowser();
    await other.get(await other.signInAt(provider, { invitation: await invite() })).expect(303);
    expect(await codeOf(confirm(browser))).toBe('identity_taken');
    expect(await ownersOf()).toEqual([await whoIs(other)]);
    expect(await ownersOf()).not.toContain(person.id);
    await other.change('post', '/v1/invitations/show', { token: invitation }).expect(200);
  });

  test('is the identity that was shown: another tab may have asked about another one since', async () => {
    const { browser } = await asked();
    const { id } = (await browser.get(confirmation).expect(200)).body;
    provider.person = { sub: `${provider.person.sub}-other` };
    await browser.get(await browser.signInAt(provider, { invitation: await invite() })).expect(303);
    expect(await codeOf(confirm(browser, id))).toBe('sign_in_expired');
    expect(await ownersOf()).toEqual([]);
  });

  test('is confirmed once', async () => {
    const { browser, person } = await asked();
    const { id } = (await browser.get(confirmation).expect(200)).body;
    const both = await Promise.all([1, 2].map(() => confirm(browser, id)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect(await ownersOf()).toEqual([person.id]);
  });

  test.each<[string, (browser: Browser, person: Person) => Promise<void>]>([
    ['without a session', async ({ cookies }) => void cookies.delete(session)],
    [
      'with an ended session',
      async (_browser, person) => void (await endSessions(api.db, person.id)),
    ],
  ])('is not confirmed %s', async (_how, change) => {
    const { browser, person } = await asked();
    await change(browser, person);
    expect(await codeOf(browser.get(confirmation))).toBe('no_session');
    expect(await codeOf(confirm(browser))).toBe('no_session');
    expect(await ownersOf()).toEqual([]);
  });

  test('is not confirmed by another session, of another person or of the same one', async () => {
    const { browser, person } = await asked();
    const cookie = browser.cookies.get(waiting)!;
    const same = newBrowser();
    await same
      .change('post', '/v1/sessions', { email: person.email, password: person.password })
      .expect(201);
    for (const other of [browserOf(await api.person(world, 'admin')), same]) {
      other.cookies.set(waiting, cookie);
      expect(await codeOf(other.get(confirmation))).toBe('sign_in_expired');
      expect(await codeOf(confirm(other))).toBe('sign_in_expired');
    }
    expect(await ownersOf()).toEqual([]);
  });

  test('ends after ten minutes, whatever the browser keeps', async () => {
    const { browser, person } = await asked();
    const cookie = browser.cookies.get(waiting)!;
    const at = async (laterMs: number) => {
      const later = browserOf(person, appWith(testSecretsKey, laterMs));
      later.cookies.set(waiting, cookie);
      return (await later.get(confirmation)).status;
    };
    expect([await at(590_000), await at(601_000)]).toEqual([200, 400]);
  });
});

describe('a begun sign-in', () => {
  test('ends after ten minutes, whatever the browser keeps', async () => {
    const [now, later] = [appWith(testSecretsKey), appWith(testSecretsKey, 601_000)].map((app) =>
      createBrowser(app),
    );
    const path = await now!.signInAt(provider, { invitation: await invite() });
    later!.cookies.set(begun, now!.cookies.get(begun)!);
    expect(await codeOf(later!.get(path))).toBe('sign_in_expired');
    expect(await ownersOf()).toEqual([]);
  });

  test('ends when the session of the browser has changed', async () => {
    const person = await api.person(world, 'member');
    const { email, password } = person;
    const out = browserOf(person);
    const ofOut = await out.signInAt(provider, { invitation: await invite() });
    await out.change('delete', '/v1/sessions/current').expect(200);
    const entered = newBrowser();
    const ofEntered = await entered.signInAt(provider, { invitation: await invite() });
    await entered.change('post', '/v1/sessions', { email, password }).expect(201);
    for (const [browser, path] of [
      [out, ofOut],
      [entered, ofEntered],
    ] as const)
      expect(await codeOf(browser.get(path))).toBe('sign_in_expired');
    expect(await ownersOf()).toEqual([]);
  });

  test('is finished after SECRETS_KEY was rotated, and not with other keys', async () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    const person = await api.person(world, 'member');
    const browser = browserOf(person);
    const path = await browser.signInAt(provider, { invitation: await invite() });
    const statusWith = async (secretsKey: string) => {
      const same = browserOf(person, appWith(secretsKey));
      same.cookies.set(begun, browser.cookies.get(begun)!);
      return (await same.get(path)).status;
    };
    expect([await statusWith(other), await statusWith(`${other},${testSecretsKey}`)]).toEqual([
      400, 303,
    ]);
  });
});

describe('a page of another host that leads a signed-in person to the callback', () => {
  let victim: Person;
  let attacker: Browser;
  /** Where the attacker's own sign-in leads, and what the attacker's browser keeps for it. */
  let path: string;
  let stolen: string;
  beforeEach(async () => {
    victim = await api.person(await api.world(), 'admin');
    attacker = browserOf(await api.person(world, 'admin'));
    await attacker.change('delete', '/v1/sessions/current').expect(200);
    path = await attacker.signInAt(provider, { invitation: await invite() });
    stolen = attacker.cookies.get(begun)!;
  });
  /** The attacker's identity belongs to no person, so it cannot sign in. */
  afterEach(async () => {
    expect(await ownersOf()).toEqual([]);
    const after = newBrowser();
    expect((await after.get(await after.signInAt(provider))).headers.location).toBe(
      '/console/?error=no_organization',
    );
  });

  const space = '\u00a0';
  test.each([
    `${space}${begun}`,
    `${begun}${space}`,
    `\u0085${begun}`,
    `__host-parley_oidc`,
    'parley_oidc',
    begun,
  ])('with a planted cookie named %j is refused', async (name) => {
    const state = new URL(path, 'https://parley.example').searchParams.get('state')!;
    const forged = {
      checks: { state, nonce: 'n', verifier: 'v' },
      invitation: await invite(),
      returnTo: '/console/',
    };
    for (const value of [stolen, Buffer.from(JSON.stringify(forged)).toString('base64url')]) {
      const browser = browserOf(victim);
      browser.cookies.set(name, value);
      expect(await codeOf(browser.get(path))).toBe('sign_in_expired');
      expect(await whoIs(browser)).toBe(victim.id);
    }
  });

  test('is refused on plain HTTP, where another port of this machine sets any cookie', async () => {
    for (const value of [stolen, attacker.cookies.get(begun)!.slice(0, -2)]) {
      const cookie = `parley_session=${tokenOf(victim)}; parley_oidc=${value}`;
      const answer = await api.call('get', path, {
        headers: { Cookie: cookie, Host: 'localhost:4000' },
      });
      expect([answer.status, answer.body.code]).toEqual([400, 'sign_in_expired']);
    }
  });

  test('does not replace the session by one of the attacker', async () => {
    const planted = tokenOf(await api.person(world, 'member'));
    for (const name of [
      `${space}${session}`,
      `${session}${space}`,
      '__host-parley_session',
      'parley_session',
    ]) {
      const browser = createBrowser(createManageApp(api.deps), {
        [name]: planted,
        [session]: tokenOf(victim),
      });
      expect(await whoIs(browser)).toBe(victim.id);
      const without = createBrowser(createManageApp(api.deps), { [name]: planted });
      expect(await codeOf(without.get('/v1/me'))).toBe('no_session');
    }
  });
});

test('a cookie header that is too long or malformed is no failure of the server', async () => {
  const statusOf = async (cookie: string) =>
    (
      await api.call('get', confirmation, {
        headers: { Cookie: cookie, 'X-Forwarded-Proto': 'https' },
      })
    ).status;
  expect(await statusOf('x'.repeat(20_000))).toBe(431);
  for (const cookie of [
    '',
    ';;;',
    '=',
    `${session}`,
    `${session}=`,
    `${session}=%00; ${waiting}=%ff`,
    '=;'.repeat(3_000),
  ])
    expect(await statusOf(cookie)).toBe(401);
});
