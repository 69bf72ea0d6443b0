import { saveIntegration } from '@parley/db';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

/** Stores an MCP server at an address that is refused. */
export async function integration(
  { api, db, scope }: World,
  provider = 'mcp.crm',
): Promise<string> {
  const secrets = { apiKey: 'key-of-the-crm', headers: { 'X-Team': 'north' } };
  await saveIntegration(db, api.deps.box, scope, {
    provider,
    config: { url: 'http://127.0.0.1:9/mcp' },
    secrets,
  });
  return provider;
}

const theIntegration: Prepare = async (world) => ({
  params: { provider: await integration(world) },
});

export const integrationSamples = {
  async listIntegrations(world) {
    await integration(world);
    return {};
  },
  getIntegration: theIntegration,
  async createIntegration({ api, scope }) {
    await api.db.pool.query('delete from integrations where tenant = $1', [scope.tenant]);
    return {
      body: {
        provider: 'ollama',
        settings: { baseUrl: 'https://models.example.com', apiKey: 'key-f3a1' },
      },
    };
  },
  updateIntegration: async (world) => ({
    ...(await theIntegration(world)),
    body: { settings: { headers: { 'X-Team': 'south' }, apiKey: null }, enabled: false },
  }),
  testIntegration: theIntegration,
  removeIntegration: theIntegration,
} satisfies Record<string, Prepare>;
