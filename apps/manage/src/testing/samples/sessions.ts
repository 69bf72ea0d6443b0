import type { Prepare, Sample } from './sample';

/** A request of a signed-in person. */
const ofPerson =
  (sample: Sample = {}): Prepare =>
  async (world) => ({ ...sample, headers: (await world.api.person(world, 'member')).headers });

const sameSite = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };

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
  changePassword: ofPerson({ body: { currentPassword: 'correct horse 42', newPassword: 'battery staple 12' } }),
} satisfies Record<string, Prepare>;
