import { setToolSecret } from '@parley/tools';
import type { Prepare } from './sample';

const aSecret: Prepare = async ({ api, db, scope }) => {
  await setToolSecret(db, api.deps.box, scope, { name: 'CARRIER_KEY', value: 'ck_live_9f2c' });
  return { params: { name: 'CARRIER_KEY' } };
};

export const toolSecretSamples = {
  async listToolSecrets(world) {
    await aSecret(world);
    return {};
  },
  setToolSecret: async () => ({ body: { name: 'CARRIER_KEY', value: 'ck_live_9f2c' } }),
  deleteToolSecret: aSecret,
} satisfies Record<string, Prepare>;
