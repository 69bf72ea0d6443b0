import { createApiKey } from '@parley/identity';
import type { Prepare } from './sample';

const aKey: Prepare = async ({ db, scope }) => {
  const { id } = await createApiKey(db, { ...scope, name: 'website', permissions: ['chat'] });
  return { params: { id } };
};

export const apiKeySamples = {
  listApiKeys: async () => ({ query: { limit: '10' } }),
  createApiKey: async () => ({ body: { name: 'website', permissions: ['chat', 'data'] } }),
  rotateApiKey: async (world) => ({ ...(await aKey(world)), body: { overlapSeconds: 60 } }),
  revokeApiKey: aKey,
} satisfies Record<string, Prepare>;
