import { databaseVariables, numberVariable, serviceVariables, urlVariable } from '@parley/service';
import { z } from 'zod';

const key = (provider: string) =>
  z
    .string()
    .optional()
    .meta({ description: `Key for ${provider}; an organization's own key goes before it.` });
const address = (description: string) => urlVariable().optional().meta({ description });

/** How models are reached; worker runs agents as well. */
export const modelVariables = {
  OPENAI_API_KEY: key('OpenAI'),
  OPENAI_BASE_URL: address('Address of OpenAI or of any server that speaks its protocol, with its /v1.'),
  ANTHROPIC_API_KEY: key('Anthropic'),
  ANTHROPIC_BASE_URL: address('Address of Anthropic, or of a server that speaks its protocol.'),
  GOOGLE_API_KEY: key('Gemini'),
  GOOGLE_BASE_URL: address('Address of Gemini, or of a server that speaks its protocol.'),
  OLLAMA_BASE_URL: address('Address of an Ollama server.'),
  PARLEY_DEFAULT_MODEL: z
    .string()
    .regex(/^[a-z0-9-]+\/\S+$/i, 'must be "provider/name"')
    .default('openai/gpt-5-mini')
    .meta({ description: 'Model of agents that name none.' }),
  MODEL_TIMEOUT_MS: numberVariable(60_000, 100).meta({
    description: 'Milliseconds for one model call with its retries.',
  }),
};

export const chatVariables = {
  ...serviceVariables(4002),
  ...databaseVariables,
  ...modelVariables,
  SECRETS_KEY: z.string().meta({
    description: '32 random bytes in base64 that encrypt secrets at rest; several, separated by commas, rotate.',
  }),
  EXECUTOR_TOKEN: z.string().optional().meta({ description: 'Bearer token of the tool executor.' }),
  TOOL_EXECUTOR_URL: address('Address of the tool executor; without it custom tools do not run.'),
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
};
