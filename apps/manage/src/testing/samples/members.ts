import { createInvitation } from '@parley/identity';
import { newId } from '@parley/db';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

const sameSite = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const invitation = (world: World) =>
  createInvitation(world.db, world.scope, { role: 'member', minutes: 60 });
const aMember: Prepare = async (world) => ({
  params: { id: (await world.api.person(world, 'member')).id },
  isOfOrganization: true,
});

export const memberSamples = {
  listMembers: async (world) => {
    await aMember(world);
    return {};
  },
  changeMember: async (world) => ({ ...(await aMember(world)), body: { role: 'admin' } }),
  removeMember: aMember,
  async listInvitations(world) {
    await invitation(world);
    return {};
  },
  createInvitation: async () => ({ body: { role: 'member' } }),
  revokeInvitation: async (world) => ({
    params: { id: (await invitation(world)).invitation.id },
    isOfOrganization: true,
  }),
  showInvitation: async (world) => ({
    body: { token: (await invitation(world)).token },
    headers: sameSite,
  }),
  async acceptInvitation(world) {
    const { token } = await invitation(world);
    const email = `${newId('p')}@example.com`;
    return {
      body: { token, email, name: 'Ben', password: 'battery staple 12' },
      headers: sameSite,
    };
  },
} satisfies Record<string, Prepare>;
