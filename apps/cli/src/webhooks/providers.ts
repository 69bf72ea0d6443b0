import { integrationProviders } from '@parley/contracts';

export const deliveryStatuses = [
  'received',
  'processed',
  'ignored',
  'failed',
  'unattributed',
  'rejected',
  'held',
] as const;

/** Providers that send deliveries. */
export const deliveryProviders = ['clerk', 'kapso', 'flow', 'polar', 'resend'] as const;

export const providers = [...integrationProviders, 'mcp.<server>'];
export const unknownProvider = (name: string): string =>
  `Unknown provider "${name}". Available: ${providers.join(', ')}, and any name for a server with OpenAI's protocol, with --api-url`;
