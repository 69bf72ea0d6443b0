import { newId } from '@parley/db';
import { createPublishableKey } from '@parley/identity';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

const origins = ['https://shop.example.com', '*.example.org'];

/** An agent without a definition: enough to create a key for it. */
export async function anAgent({ db, scope: { tenant } }: World): Promise<string> {
  const slug = newId('agent').replace('_', '-').toLowerCase();
  await db.pool.query('insert into agents (tenant, id, slug) values ($1, $2, $3)', [
    tenant,
    newId('agent'),
    slug,
  ]);
  return slug;
}

const aKey: Prepare = async ({ api, db, scope }) => {
  const limits = { perVisitor: 60, perAddress: 600, perKey: 6_000 };
  const key = { name: 'website', agentSlug: 'shop', origins, limits };
  const { created } = await createPublishableKey(db, api.deps.box, scope, key);
  return { params: { id: created.id } };
};

export const publishableKeySamples = {
  listPublishableKeys: async () => ({ query: { limit: '10' } }),
  createPublishableKey: async (world) => ({
    body: { name: 'website', agentSlug: await anAgent(world), origins },
  }),
  revokePublishableKey: aKey,
} satisfies Record<string, Prepare>;
