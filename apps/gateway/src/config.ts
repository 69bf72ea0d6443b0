import { numberVariable, serviceVariables, trustedProxiesVariable, urlVariable } from '@parley/service';

export const gatewayVariables = {
  ...serviceVariables(4000),
  CHAT_URL: urlVariable().default('http://127.0.0.1:4002').meta({ description: 'Address of the chat service.' }),
  DATA_URL: urlVariable().default('http://127.0.0.1:4001').meta({ description: 'Address of the data service.' }),
  WEBHOOK_INGEST_URL: urlVariable().optional().meta({
    description: 'Address of the webhook-ingest service. When it is not set, webhooks are answered with 503.',
  }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool-executor service. When it is not set, its paths are answered with 503.',
  }),
  MANAGE_URL: urlVariable().optional().meta({
    description: 'Address of the manage service. When it is not set, its paths are answered with 503.',
  }),
  CHAT_DEADLINE_MS: numberVariable(130_000, 1).meta({
    description:
      'Maximum time in milliseconds for a request to the chat service and its answer. Must be longer than the slowest turn.',
  }),
  EXECUTOR_DEADLINE_MS: numberVariable(70_000, 1).meta({
    description: 'Maximum time in milliseconds for a request to the tool-executor service and its answer.',
  }),
  DEADLINE_MS: numberVariable(30_000, 1).meta({
    description: 'Maximum time in milliseconds for a request to another service and its answer.',
  }),
  STREAM_IDLE_MS: numberVariable(45_000, 1).meta({
    description:
      'Maximum time in milliseconds in which a stream sends nothing, or in which its client reads nothing. Services send at least a comment every 15 seconds.',
  }),
  TRUSTED_PROXIES: trustedProxiesVariable,
};
