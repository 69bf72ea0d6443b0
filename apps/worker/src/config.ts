import { modelVariables } from '@parley/agents';
import { secretsKeyVariable } from '@parley/db';
import { channelVariables } from '@parley/channels';
import {
  databaseVariables,
  modelPriceVariables,
  numberVariable,
  redisVariables,
  serviceVariables,
  urlVariable,
} from '@parley/service';
import { z } from 'zod';

export const workerVariables = {
  ...serviceVariables(4005),
  ...databaseVariables,
  ...redisVariables,
  ...modelVariables,
  ...modelPriceVariables,
  ...channelVariables,
  SECRETS_KEY: secretsKeyVariable,
  EXECUTOR_TOKEN: z.string().optional().meta({ description: 'Bearer token of the tool executor.' }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool executor; without it custom tools do not run.',
  }),
  TURN_TIMEOUT_MS: numberVariable(120_000, 1_000).meta({
    description: 'Milliseconds for one message, its wait for earlier ones of the thread included.',
  }),
  HISTORY_TOKENS: numberVariable(32_000, 1_000).meta({
    description: 'How much of a conversation the model is given, in tokens (estimated).',
  }),
  WEB_FETCH_ALLOWED_PRIVATE_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
    .meta({
      description: 'Hosts, or host:port, that web.fetch may reach although they are not public. For development.',
    }),
  MCP_ALLOWED_PRIVATE_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
    .meta({
      description: 'Hosts, or host:port, at which MCP servers may be although they are not public.',
    }),
  TRIGGER_LEASE_MS: numberVariable(4_000, 200, 60_000).meta({
    description:
      'Milliseconds that a run of an automation belongs to a worker that has not been heard of; then another takes it over.',
  }),
  PUBLIC_URL: urlVariable().default('http://localhost:4000').meta({
    description: 'Address of the gateway as providers reach it: their webhooks and callbacks go there.',
  }),
  MESSAGING_WEBHOOK_SECRET: z.string().optional().meta({
    description: 'Secret that the WhatsApp intermediary is told to sign with; of several the first.',
  }),
  WEBHOOK_RETENTION_DAYS: numberVariable(30, 1).meta({
    description: 'Days that deliveries of providers are kept after they were dealt with.',
  }),
  WEBHOOK_FAILED_RETENTION_DAYS: numberVariable(180, 1).meta({
    description: 'Days that deliveries are kept that failed or belong to nobody that is known.',
  }),
  EVENT_RETENTION_DAYS: numberVariable(365, 0).meta({
    description:
      'Days that events are kept after what had to follow from them has begun; 0 keeps them for ever. Agents read them with event.query.',
  }),
  TRIGGER_RUN_RETENTION_DAYS: numberVariable(90, 0).meta({
    description: 'Days that runs of automations are kept after their end; 0 keeps them for ever.',
  }),
  PURGE_GRACE_DAYS: numberVariable(0, 0, 3_650).meta({
    description: 'Days between the deletion of an organization at the identity provider and that of all its data here.',
  }),
};
