import { modelVariables } from '@parley/agents';
import { channelVariables } from '@parley/channels';
import { secretsKeyVariable } from '@parley/db';
import { listVariable, modelPriceVariables, numberVariable, urlVariable } from '@parley/service';
import { z } from 'zod';

/** The environment variables of processes that run agents, tools and triggers. */
export const runtimeVariables = {
  ...modelVariables,
  ...modelPriceVariables,
  ...channelVariables,
  SECRETS_KEY: secretsKeyVariable,
  EXECUTOR_TOKEN: z.string().optional().meta({ description: 'Bearer token of the tool executor.' }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool executor. Without it custom tools cannot run.',
  }),
  PUBLIC_URL: urlVariable().default('http://localhost:4000').meta({
    description: 'Public address of the gateway, to which providers send webhooks and callbacks.',
  }),
  TURN_TIMEOUT_MS: numberVariable(120_000, 1_000).meta({
    description:
      'Time limit of one message, including its wait for earlier messages of the thread, in milliseconds.',
  }),
  HISTORY_TOKENS: numberVariable(32_000, 1_000).meta({
    description: 'Maximum history of a thread that the model gets, in estimated tokens.',
  }),
  TOOL_CALLS_PER_MESSAGE: numberVariable(32, 1, 1_000).meta({
    description:
      'Maximum tool calls in one reply of a model. The model gets an error for the others.',
  }),
  MODEL_CALLS_PER_TURN: numberVariable(50, 10, 10_000).meta({
    description:
      'Maximum model calls of one message, with those of all agents that are asked with agent.chat. 10 of them are for the agent that got the message.',
  }),
  TRIGGER_LEASE_MS: numberVariable(4_000, 200, 60_000).meta({
    description:
      'Lease of a trigger run in milliseconds. When its process no longer renews it, another worker claims the run.',
  }),
  TRIGGER_RUNS_PER_ROOT: numberVariable(1_000, 1, 1_000_000).meta({
    description:
      'Maximum trigger runs that follow from one event, one tick of a schedule or one fired trigger, directly or through triggers with cascade. Further ones are refused.',
  }),
  WEB_FETCH_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description: 'Private hosts, as host or host:port, that web.fetch may call. For development.',
  }),
  MCP_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description: 'Private hosts, as host or host:port, on which MCP servers may run.',
  }),
};
