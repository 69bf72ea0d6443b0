import { type NewPersonLink, createInvitation, createPersonLink } from '@parley/identity';
import type { World } from '../create-test-api';
import type { Prepare, Sample } from './sample';

/** A request of a signed-in person. */
const ofPerson =
  (sample: Sample = {}): Prepare =>
  async (world) => ({ ...sample, headers: (await world.api.person(world, 'member')).headers });

const sameSite = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };

const cookieOf = (response: { headers: Record<string, unknown> }): string => {
  const set = response.headers['set-cookie'] as string[];
  return set.at(-1)!.split(';')[0]!;
};

/**
 * The headers of a person of another organization, who has signed in at the provider by an
 * invitation and has not confirmed it.
 */
async function askedPerson(world: World): Promise<Record<string, string>> {
  const { api, scope } = world;
  const { call, oidc } = api;
  const { headers } = await api.person(await api.world(), 'member');
  const { token: invitation } = await createInvitation(api.db, scope, {
    role: 'member',
    minutes: 10,
  });
  oidc.person = { sub: `subject of ${invitation}`, email: 'ana@id.example', name: 'Ana Rojas' };
  const begun = await call('post', '/v1/sign-in/oidc', {
    body: { invitation },
    headers: { ...headers, ...sameSite },
  });
  const { search } = new URL(await oidc.signIn(begun.body.url));
  const back = { ...headers, Cookie: `${headers.Cookie}; ${cookieOf(begun)}` };
  const asked = await call('get', `/v1/sign-in/oidc/callback${search}`, { headers: back });
  return { ...headers, Cookie: `${headers.Cookie}; ${cookieOf(asked)}` };
}

const linkOf = (world: World, id: string, link: NewPersonLink) =>
  createPersonLink(world.db, id, link);
const passwordLink = async (world: World) => {
  const { id } = await world.api.person(world, 'member');
  return linkOf(world, id, { purpose: 'password', email: null, proofTenant: null });
};

export const sessionSamples = {
  getSignInWays: async () => ({}),
  beginOidcSignIn: async () => ({ body: {}, headers: sameSite }),
  async finishOidcSignIn({ api: { call, oidc } }) {
    const begun = await call('post', '/v1/sign-in/oidc', { body: {}, headers: sameSite });
    const { searchParams } = new URL(await oidc.signIn(begun.body.url));
    return {
      query: Object.fromEntries(searchParams),
      headers: { Cookie: begun.headers['set-cookie']![0]!.split(';')[0]! },
    };
  },
  getIdentityConfirmation: async (world) => ({ headers: await askedPerson(world) }),
  async confirmIdentity(world) {
    const headers = await askedPerson(world);
    const { id } = (await world.api.call('get', '/v1/sign-in/oidc/confirmation', { headers })).body;
    return { headers, body: { id } };
  },
  declineIdentity: async (world) => ({ headers: await askedPerson(world) }),
  async signIn(world) {
    const { email, password } = await world.api.person(world, 'member');
    return { body: { email, password }, headers: sameSite };
  },
  signOut: ofPerson(),
  async endSession(world) {
    const { headers, sessionId } = await world.api.person(world, 'member');
    return { params: { id: sessionId }, headers };
  },
  listSessions: ofPerson(),
  getMe: ofPerson(),
  changePassword: ofPerson({
    body: { currentPassword: 'correct horse 42', newPassword: 'battery staple 12' },
  }),
  async changeEmail(world) {
    const { email, password, headers } = await world.api.person(world, 'member');
    return { body: { email: `new-${email}`, password }, headers };
  },
  async confirmEmail(world) {
    const { id, email, headers } = await world.api.person(world, 'member');
    return {
      body: { token: await linkOf(world, id, { purpose: 'email', email, proofTenant: null }) },
      headers,
    };
  },
  requestPasswordReset: async () => ({ body: { email: 'ana@example.com' }, headers: sameSite }),
  async showPasswordReset(world) {
    return { body: { token: await passwordLink(world) }, headers: sameSite };
  },
  async completePasswordReset(world) {
    return {
      body: { token: await passwordLink(world), password: 'battery staple 12' },
      headers: sameSite,
    };
  },
} satisfies Record<string, Prepare>;
