import { modelVariables } from '@parley/agents';
import { channelVariables } from '@parley/channels';
import { secretsKeyVariable } from '@parley/db';
import { listVariable, modelPriceVariables, numberVariable, urlVariable } from '@parley/service';
import { z } from 'zod';

/** What a process that runs agents, tools and triggers is told (libs/service loadConfig). */
export const runtimeVariables = {
  ...modelVariables,
  ...modelPriceVariables,
  ...channelVariables,
  SECRETS_KEY: secretsKeyVariable,
  EXECUTOR_TOKEN: z.string().optional().meta({ description: 'Bearer token of the tool executor.' }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool executor; without it custom tools do not run.',
  }),
  PUBLIC_URL: urlVariable().default('http://localhost:4000').meta({
    description: 'Address of the gateway as providers reach it: their webhooks and callbacks go there.',
  }),
  TURN_TIMEOUT_MS: numberVariable(120_000, 1_000).meta({
    description: 'Milliseconds for one message, its wait for earlier ones of the thread included.',
  }),
  HISTORY_TOKENS: numberVariable(32_000, 1_000).meta({
    description: 'How much of a conversation the model is given, in tokens (estimated).',
  }),
  TRIGGER_LEASE_MS: numberVariable(4_000, 200, 60_000).meta({
    description:
      'Milliseconds that a trigger run belongs to a process that has not been heard of; then a worker takes it over.',
  }),
  WEB_FETCH_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description: 'Hosts, or host:port, that web.fetch may reach although they are not public. For development.',
  }),
  MCP_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description: 'Hosts, or host:port, at which MCP servers may be although they are not public.',
  }),
};
