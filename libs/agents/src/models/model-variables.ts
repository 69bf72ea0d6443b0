import { z } from 'zod';

const key = (provider: string) =>
  z
    .string()
    .optional()
    .meta({ description: `API key for ${provider}; an organization's own key has precedence.` });

const address = (description: string) =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({ description });

/** Environment variables of processes that run agents: model providers and the default model. */
export const modelVariables = {
  OPENAI_API_KEY: key('OpenAI'),
  OPENAI_BASE_URL: address(
    'Address of OpenAI, or of a server that speaks its protocol, including /v1.',
  ),
  ANTHROPIC_API_KEY: key('Anthropic'),
  ANTHROPIC_BASE_URL: address('Address of Anthropic, or of a server that speaks its protocol.'),
  GOOGLE_API_KEY: key('Gemini'),
  GOOGLE_BASE_URL: address('Address of Gemini, or of a server that speaks its protocol.'),
  OLLAMA_BASE_URL: address('Address of an Ollama server.'),
  PARLEY_DEFAULT_MODEL: z
    .string()
    .regex(/^[a-z0-9-]+\/\S+$/i, 'must be "provider/name"')
    .default('openai/gpt-5-mini')
    .meta({ description: 'Model of agents that set none.' }),
  MODEL_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(100)
    .default(60_000)
    .meta({ description: 'Time limit of one model call including retries, in milliseconds.' }),
  MODEL_MAX_CONNECTIONS: z.coerce.number().int().min(1).default(256).meta({
    description:
      'Model calls of one process at the same time. A single busy organization gets two thirds of them; its other calls wait.',
  }),
};
