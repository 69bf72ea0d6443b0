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

/** Providers of `integrations set`, with the secrets that each requires. */
export const integrationSecrets: Readonly<Record<string, readonly string[]>> = {
  flow: ['apiKey', 'secretKey'],
  kapso: ['apiKey'],
  resend: ['apiKey'],
  openai: ['apiKey'],
  anthropic: ['apiKey'],
  google: ['apiKey'],
  ollama: [],
};
export const providers = [...Object.keys(integrationSecrets), 'mcp.<server>'];
export const unknownProvider = (name: string): string =>
  `Unknown provider "${name}". Available: ${providers.join(', ')}, and any name for a server with OpenAI's protocol, with --api-url`;

/** Whether a provider is an MCP server, whose tools are called `mcp.<server>.<tool>`. */
export const isMcpServer = (provider: string): boolean => /^mcp\.[a-z0-9][a-z0-9_-]{0,62}$/.test(provider);

/** Whether a provider is a server with OpenAI's protocol: any name that can begin a model's id and has no other meaning. */
export const isModelServer = (provider: string): boolean =>
  /^[a-z0-9][a-z0-9-]{0,62}$/.test(provider) &&
  !Object.hasOwn(integrationSecrets, provider) &&
  !['clerk', 'polar', 'offline'].includes(provider);
