import { randomBytes } from 'node:crypto';
import { createInvitation } from '@parley/identity';
import { keyLimitOf } from '@parley/service';
import request from 'supertest';
import { createManageApp } from './app';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
afterEach(() => jest.restoreAllMocks());

const unknownToken = () => randomBytes(32).toString('base64url');
const paths = ['/v1/invitations/show', '/v1/invitations/accept', '/v1/sign-in/oidc'] as const;

/** A service with a limit of three, and requests to it as the gateway forwards them. */
function limited() {
  const keyLimit = keyLimitOf({ TRUSTED_PROXIES: [], UNKNOWN_KEYS_PER_ADDRESS: 3 });
  const app = createManageApp({ ...api.deps, keyLimit });
  const open = (address: string, path: (typeof paths)[number], token: string) => {
    const body =
      path === '/v1/sign-in/oidc' ? { invitation: token, returnTo: '/console/' } : { token };
    const headers = {
      'Sec-Fetch-Site': 'same-origin',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-For': address,
    };
    return request(app).post(path).set(headers).send(body);
  };
  return open;
}

test.each(paths)(
  'unknown invitations of an address are 429 at %s before a query; a known one keeps working',
  async (path) => {
    const open = limited();
    const { scope } = await api.world();
    const { token } = await createInvitation(api.db, scope, { role: 'member', minutes: 5 });
    await open('203.0.113.1', '/v1/invitations/show', token).expect(200);
    for (let at = 0; at < 3; at += 1) await open('203.0.113.1', path, unknownToken()).expect(404);
    const transactions = jest.spyOn(api.db, 'transaction');
    const { body } = await open('203.0.113.1', path, unknownToken()).expect(429);
    expect(body).toMatchObject({
      code: 'too_many_unknown_links',
      error: 'Too many unknown links from this address',
    });
    expect(transactions).not.toHaveBeenCalled();
    await open('203.0.113.1', '/v1/invitations/show', token).expect(200);
    await open('203.0.113.2', path, unknownToken()).expect(404);
  },
);

test('a malformed token is refused without a query, and does not count', async () => {
  const open = limited();
  const transactions = jest.spyOn(api.db, 'transaction');
  for (let at = 0; at < 5; at += 1) {
    const { status } = await open('203.0.113.3', '/v1/invitations/show', 'a'.repeat(44 + at));
    expect([400, 404]).toContain(status);
  }
  expect(transactions).not.toHaveBeenCalled();
  await open('203.0.113.3', '/v1/invitations/show', unknownToken()).expect(404);
});

test('unknown sessions of an address are 429 where a sign-in begins, before a query', async () => {
  const open = limited();
  const { scope } = await api.world();
  const { token } = await createInvitation(api.db, scope, { role: 'member', minutes: 5 });
  const begin = () =>
    open('203.0.113.4', '/v1/sign-in/oidc', token).set(
      'Cookie',
      `__Host-parley_session=${unknownToken()}`,
    );
  for (let at = 0; at < 3; at += 1) await begin().expect(200);
  const { body } = await begin().expect(429);
  expect(body.code).toBe('too_many_unknown_sessions');
  await open('203.0.113.4', '/v1/sign-in/oidc', token).expect(200);
});
