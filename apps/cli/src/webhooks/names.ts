export const deliveryStates = ['received', 'processed', 'ignored', 'failed', 'unattributed', 'rejected'] as const;

/** Who sends deliveries. */
export const deliveryProviders = ['clerk', 'kapso', 'flow', 'polar', 'resend'] as const;

/** What `integrations set` knows, with the secrets that each wants. */
export const integrationSecrets: Readonly<Record<string, readonly string[]>> = {
  flow: ['apiKey', 'secretKey'],
  kapso: ['apiKey'],
  resend: ['apiKey'],
  openai: ['apiKey'],
  anthropic: ['apiKey'],
  google: ['apiKey'],
};
export const providers = [...Object.keys(integrationSecrets), 'mcp.<server>'];

/** An MCP server, whose tools agents name as `mcp.<server>.<tool>`. */
export const isMcpServer = (provider: string): boolean => /^mcp\.[a-z0-9][a-z0-9_-]{0,62}$/.test(provider);
