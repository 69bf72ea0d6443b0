import { z } from 'zod';
import { jsonObjectSchema } from '../json';

/** The text of this problem is part of the API (docs/reference/errors.md#chat-errors). */
const message = z.string({ error: 'message is required' }).refine((text) => text.trim() !== '', 'message is required');

const threadContextSchema = z.object({ params: jsonObjectSchema.optional() });

/** Where a conversation takes place. `api` is the HTTP API. */
export const channels = ['api', 'whatsapp', 'widget', 'dashboard'] as const;

/**
 * Channels name their threads `<channel>:<contact>`. Such a name is refused from API callers, because it would let any of
 * them read and continue the conversation of a contact.
 */
const reserved = channels.filter((channel) => channel !== 'api').map((channel) => `${channel}:`);

const externalThreadId = z
  .string()
  .min(1)
  .max(512)
  .refine((id) => !reserved.some((prefix) => id.startsWith(prefix)), {
    error: `must not begin with ${reserved.map((prefix) => `"${prefix}"`).join(', ')}, which are reserved for channels`,
  })
  .meta({
    description: `Your own id for the thread, such as \`web:42\`. Continues the thread with this id, or creates it. Must not begin with ${reserved.map((prefix) => `\`${prefix}\``).join(', ')}.`,
  });

const conversation = {
  message,
  threadId: z.string().min(1).max(200).optional(),
  externalThreadId: externalThreadId.optional(),
  threadContext: threadContextSchema.optional(),
};

export const agentChatBodySchema = z.object(conversation);

export const routerChatBodySchema = z.object({ ...conversation, phoneNumber: z.string().min(1).max(64).optional() });

export const chatBodySchema = routerChatBodySchema.extend({
  agentId: z.string().min(1).optional(),
  routerSlug: z.string().min(1).optional(),
});

/** Checked before the other fields of the body. The text is part of the API (docs/reference/errors.md#chat-errors). */
export const namedAgentSchema = z.unknown().refine((body) => {
  const { agentId, routerSlug } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return Boolean(agentId ?? routerSlug);
}, 'agentId or routerSlug is required');

const usageSchema = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  totalTokens: z.int(),
  reasoningTokens: z.int().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

const toolCallSummarySchema = z.object({
  name: z.string(),
  durationMs: z.number(),
  status: z.enum(['success', 'error']),
  errorType: z.string().optional(),
  errorMessage: z.string().optional(),
});
export type ToolCallSummary = z.infer<typeof toolCallSummarySchema>;

export const chatResponseSchema = z.object({
  threadId: z.string(),
  message: z.string(),
  usage: usageSchema,
  assistantMessageId: z.string().optional(),
  _executionMeta: z
    .object({
      iterationCount: z.number(),
      model: z.string(),
      durationMs: z.number(),
      toolCallSummary: z.array(toolCallSummarySchema),
      errorCount: z.number(),
      permissionDenialCount: z.number(),
    })
    .optional(),
  _transferred: z.object({ targetAgentSlug: z.string(), targetAgent: z.string() }).optional(),
  routedToAgent: z.string().optional(),
  routedToAgentSlug: z.string().optional(),
});
export type ChatResponse = z.infer<typeof chatResponseSchema>;
