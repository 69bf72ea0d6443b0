import {
  numberVariable,
  serviceVariables,
  trustedProxiesVariable,
  urlVariable,
} from '@parley/service';

export const gatewayVariables = {
  ...serviceVariables(4000),
  CHAT_URL: urlVariable()
    .default('http://127.0.0.1:4002')
    .meta({ description: 'Address of the chat service.' }),
  DATA_URL: urlVariable()
    .default('http://127.0.0.1:4001')
    .meta({ description: 'Address of the data service.' }),
  WEBHOOK_INGEST_URL: urlVariable().optional().meta({
    description:
      'Address of the webhook-ingest service. When it is not set, webhooks are answered with 503.',
  }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description:
      'Address of the tool-executor service. When it is not set, its paths are answered with 503.',
  }),
  MANAGE_URL: urlVariable().optional().meta({
    description:
      'Address of the manage service. When it is not set, its paths are answered with 503.',
  }),
  CHAT_DEADLINE_MS: numberVariable(130_000, 1).meta({
    description:
      'Maximum time in milliseconds for a request to the chat service and its answer. Must be longer than the slowest turn.',
  }),
  EXECUTOR_DEADLINE_MS: numberVariable(70_000, 1).meta({
    description:
      'Maximum time in milliseconds for a request to the tool-executor service and its answer.',
  }),
  DEADLINE_MS: numberVariable(30_000, 1).meta({
    description: 'Maximum time in milliseconds for a request to another service and its answer.',
  }),
  STREAM_IDLE_MS: numberVariable(45_000, 1).meta({
    description:
      'Maximum time in milliseconds in which a stream sends nothing, or in which its client reads nothing. Services send at least a comment every 15 seconds.',
  }),
  BODY_MEMORY_MIB: numberVariable(128, 32).meta({
    description:
      'Memory in MiB for the bodies of requests that have no answer yet. Half of it is for the first 64 KiB of each body. One network address uses at most two thirds.',
  }),
  BODY_GRACE_MS: numberVariable(5_000, 1).meta({
    description:
      'Time in milliseconds in which the body of a request must arrive. It is extended as BODY_MIN_BYTES_PER_SECOND says.',
  }),
  BODY_MIN_BYTES_PER_SECOND: numberVariable(1_024, 1).meta({
    description:
      'For each so many bytes that have arrived, a body has one second more than BODY_GRACE_MS.',
  }),
  SLOW_BODIES_PER_ADDRESS: numberVariable(64, 1).meta({
    description:
      'Bodies of one network address that take longer than a second to arrive, at the same time.',
  }),
  TRUSTED_PROXIES: trustedProxiesVariable,
};
