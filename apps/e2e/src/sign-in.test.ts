import { createDb } from '@parley/db';
import { createInvitation } from '@parley/identity';
import { type OidcServer, startOidcServer } from '@parley/testing';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

let provider: OidcServer;
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
beforeAll(async () => {
  provider = await startOidcServer();
  const { url, clientId, clientSecret } = provider;
  const environment = {
    OIDC_ISSUER: url,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  };
  stack = await startOwnStack({ services: ['data', 'chat', 'manage', 'gateway'], environment });
  tenant = await createTenant(stack);
});
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await provider?.stop();
});

const origin = () => ({ Origin: stack.url });
const cookieOf = ({ headers }: Response, name: string) =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))!
    .split(';')[0]!;
const get = (path: string, headers: Record<string, string>) =>
  fetch(stack.url + path, { headers, redirect: 'manual' });
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(stack.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...origin(), ...headers },
    body: JSON.stringify(body),
  });

test('a person joins by an invitation at the OpenID provider, uses the API with the session and signs out', async () => {
  const db = createDb({ databaseUrl: stack.databaseUrl, poolSize: 1 });
  const { token } = await createInvitation(db, tenant.scope, { role: 'admin', minutes: 5 });
  await db.close();
  expect(await (await get('/v1/sign-in', {})).json()).toEqual({
    password: true,
    oidc: { name: 'OpenID' },
    passwordResetByEmail: false,
  });

  const begun = await post('/v1/sign-in/oidc', { invitation: token, returnTo: '/v1/me' });
  const back = new URL(await provider.signIn(((await begun.json()) as { url: string }).url));
  expect(back.origin).toBe(stack.url);
  const finished = await get(back.pathname + back.search, {
    Cookie: cookieOf(begun, 'parley_oidc'),
  });
  expect([finished.status, finished.headers.get('location')]).toEqual([303, '/v1/me']);
  expect([begun, finished].map(({ headers }) => headers.get('cache-control'))).toEqual([
    'no-store',
    'no-store',
  ]);

  const session = { Cookie: cookieOf(finished, 'parley_session') };
  const scope = {
    'Parley-Organization': tenant.organizationId,
    'Parley-Environment': 'development',
  };
  const organization = await get('/v1/organization', { ...session, ...scope });
  expect(await organization.json()).toMatchObject({ id: tenant.organizationId });
  expect(
    (await post('/v1/api-keys', { name: 'ci', permissions: ['chat'] }, { ...session, ...scope }))
      .status,
  ).toBe(201);
  const everywhere = ['/v1/me', '/v1/threads', '/v1/entity-types', '/v1/data/unknown'];
  const changes = {
    '/v1/agents/unknown/chat': { message: 'Hello' },
    '/v1/sync/state': {},
    '/v1/run-tool': {},
  };
  /** Answers of every service, which no cache may keep. */
  const statuses = async () => {
    const answers = await Promise.all([
      ...everywhere.map((path) => get(path, { ...session, ...scope })),
      ...Object.entries(changes).map(([path, body]) => post(path, body, { ...session, ...scope })),
    ]);
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(
      answers.map(() => 'no-store'),
    );
    return answers.map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 200, 200, 404, 500, 200, 400]);
  const out = await fetch(`${stack.url}/v1/sessions/current`, {
    method: 'DELETE',
    headers: { ...session, ...origin() },
  });
  expect(out.status).toBe(200);
  expect(await statuses()).toEqual(Array(7).fill(401));
  expect(provider.problems).toEqual([]);
});
