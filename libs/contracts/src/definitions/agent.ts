import { z } from 'zod';
import { slugSchema } from '../slug';

/** `provider/name`, such as `openai/gpt-5-mini`. */
const modelId = z.string().regex(/^[a-zA-Z0-9-]+\/\S+$/, 'must be "provider/name"');

const agentModelSchema = z.union([
  modelId,
  z.strictObject({
    model: modelId,
    temperature: z.number().min(0).max(2).optional(),
    maxTokens: z.int().min(1).optional(),
    reasoning: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
    fallbacks: z.array(modelId).max(5).optional(),
  }),
]);
export type AgentModel = z.infer<typeof agentModelSchema>;

const threadContextParamSchema = z.strictObject({
  name: z.string().min(1).max(100),
  type: z.enum(['string', 'number', 'boolean', 'object']),
  required: z.boolean().optional(),
  description: z.string().optional(),
});
export type ThreadContextParam = z.infer<typeof threadContextParamSchema>;

export const agentDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  version: z.string().max(100).optional(),
  description: z.string().max(4000).optional(),
  systemPrompt: z.string().max(200_000),
  model: agentModelSchema.optional(),
  tools: z.array(z.string().min(1).max(200)).max(200).optional(),
  roles: z.array(slugSchema).max(50).optional(),
  threadContextParams: z.array(threadContextParamSchema).max(100).optional(),
  firstMessageSuggestions: z.array(z.string().max(500)).max(20).optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
