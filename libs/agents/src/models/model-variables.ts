import { z } from 'zod';

const key = (provider: string) =>
  z
    .string()
    .optional()
    .meta({ description: `Key for ${provider}; an organization's own key goes before it.` });

const address = (description: string) =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({ description });

/** How a process that runs agents reaches models: part of its configuration (libs/service loadConfig). */
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
  MODEL_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(100)
    .default(60_000)
    .meta({ description: 'Milliseconds for one model call with its retries.' }),
};
