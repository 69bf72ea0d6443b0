export const deliveryStates = ['received', 'processed', 'ignored', 'failed', 'unattributed', 'rejected'] as const;

/** What `integrations set` knows, with the secrets that each wants. */
export const integrationSecrets: Readonly<Record<string, readonly string[]>> = {
  flow: ['apiKey', 'secretKey'],
  kapso: ['apiKey'],
  resend: ['apiKey'],
  openai: ['apiKey'],
  anthropic: ['apiKey'],
  google: ['apiKey'],
};
export const providers = Object.keys(integrationSecrets);
