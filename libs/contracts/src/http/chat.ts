import { z } from 'zod';
import { jsonObjectSchema } from '../json';

/** The service reports `message is required` itself: the interface fixes that text. */
const message = z.string({ error: 'message is required' }).refine((text) => text.trim() !== '', 'message is required');

const threadContextSchema = z.object({ params: jsonObjectSchema.optional() });

/** Where a conversation takes place; `api` is that of the HTTP interface. */
export const channels = ['api', 'whatsapp', 'widget', 'dashboard'] as const;

/**
 * Threads of a channel are named `<channel>:<contact>` by the channel itself. Over the API the name would let any caller
 * read and continue the conversation of a contact.
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
    description: `Your own name for the conversation, such as \`web:42\`. Must not begin with ${reserved.map((prefix) => `\`${prefix}\``).join(', ')}.`,
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

/** Checked before anything else of the body, in the interface's words. */
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
