import type { Prepare } from './sample';

export const organizationSamples = {
  getOrganization: async () => ({}),
  changeOrganization: async () => ({ body: { timezone: 'America/Santiago' } }),
} satisfies Record<string, Prepare>;
