import type { Prepare, Sample } from './sample';

/** A request of a signed-in person. */
const ofPerson =
  (sample: Sample = {}): Prepare =>
  async (world) => ({ ...sample, headers: (await world.api.person(world, 'member')).headers });

export const sessionSamples = {
  getSignInWays: async () => ({}),
  async signIn(world) {
    const { email, password } = await world.api.person(world, 'member');
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
    return { body: { email, password }, headers };
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
