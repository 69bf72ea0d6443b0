import { z } from 'zod';
import { slugSchema } from '../slug';

/** `provider/name`, such as `openai/gpt-5-mini`. */
const modelId = z.string().regex(/^[a-zA-Z0-9-]+\/\S+$/, 'must be "provider/name"');

const agentModelSchema = z.union([
  modelId,
  z.strictObject({
    model: modelId.describe('`provider/name`, such as `anthropic/claude-sonnet-4-5`.'),
    temperature: z.number().min(0).max(2).optional().describe("0 to 2. Default: the provider's."),
    maxTokens: z
      .int()
      .min(1)
      .optional()
      .describe("Maximum number of tokens of a reply. Default: the provider's."),
    reasoning: z
      .enum(['minimal', 'low', 'medium', 'high'])
      .optional()
      .describe('How much the model reasons before it replies. Sent to models of `openai` only.'),
    fallbacks: z
      .array(modelId)
      .max(5)
      .optional()
      .describe('Models that are tried in this order when the one before fails. At most 5.'),
  }),
]);
export type AgentModel = z.infer<typeof agentModelSchema>;

const threadContextParamSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .describe('The name in `threadContext.params` and in `{{threadContext.params.NAME}}`.'),
  type: z.enum(['string', 'number', 'boolean', 'object']).describe('The type of the value.'),
  required: z
    .boolean()
    .optional()
    .describe(
      'Whether a message is refused if neither it nor its thread has the param. Default: `false`.',
    ),
  description: z.string().optional().describe('What the param is, for the developers of callers.'),
});
export type ThreadContextParam = z.infer<typeof threadContextParamSchema>;

export const agentDefinitionSchema = z.strictObject({
  slug: slugSchema.describe(
    'The name in paths and references, such as `shop-assistant`. Unique in an environment.',
  ),
  name: z.string().min(1).max(200).describe('The name for people.'),
  version: z
    .string()
    .max(100)
    .optional()
    .describe('A label of your own, such as `2.1`. It has no effect.'),
  description: z
    .string()
    .max(4000)
    .optional()
    .describe('What the agent does. The classification of a router reads it.'),
  systemPrompt: z
    .string()
    .max(200_000)
    .describe(
      'The instructions for the model. A template, which is compiled for each turn: `Today is {{today}}.`',
    ),
  model: agentModelSchema
    .optional()
    .describe(
      'The model, as `provider/name` or with its settings. Default: `PARLEY_DEFAULT_MODEL` of the installation.',
    ),
  tools: z
    .array(z.string().min(1).max(200))
    .max(200)
    .optional()
    .describe(
      'Tools that the agent may call: names, such as `entity.query`, all of a namespace with `entity.*`, or `*`. Default: none.',
    ),
  roles: z
    .array(slugSchema)
    .max(50)
    .optional()
    .describe(
      'Slugs of the roles that limit its tool calls. Default: none, so that it may do everything.',
    ),
  threadContextParams: z
    .array(threadContextParamSchema)
    .max(100)
    .optional()
    .describe(
      'The params that a message may have in `threadContext.params`. Others are dropped. Default: every param is stored.',
    ),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i, 'must be a language tag, such as "es" or "pt-BR"')
    .max(35)
    .optional()
    .describe(
      'The language of the texts that Parley writes for the agent, as a tag such as `es-CL`. Default: `en`.',
    ),
  onFailure: z
    .strictObject({
      reply: z
        .string()
        .trim()
        .min(1)
        .max(4_000)
        .optional()
        .describe("The text. Default: a sentence in the agent's `language`."),
      handoff: z
        .boolean()
        .optional()
        .describe('Whether the conversation then waits for a person. Default: `false`.'),
    })
    .optional()
    .describe('The notice for a person on a channel when the agent cannot answer.'),
  firstMessageSuggestions: z
    .array(z.string().max(500))
    .max(20)
    .optional()
    .describe(
      'Messages that a user interface may offer at the beginning of a conversation, each of at most 500 characters.',
    ),
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
