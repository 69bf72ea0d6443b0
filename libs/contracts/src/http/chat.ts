import { z } from 'zod';
import { jsonObjectSchema } from '../json';

/** The service reports `message is required` itself: the interface fixes that text. */
const message = z.string({ error: 'message is required' }).refine((text) => text.trim() !== '', 'message is required');

const threadContextSchema = z.object({ params: jsonObjectSchema.optional() });

const conversation = {
  message,
  threadId: z.string().min(1).max(200).optional(),
  externalThreadId: z.string().min(1).max(512).optional(),
  threadContext: threadContextSchema.optional(),
};

export const agentChatBodySchema = z.object(conversation);
export type AgentChatBody = z.infer<typeof agentChatBodySchema>;

export const routerChatBodySchema = z.object({ ...conversation, phoneNumber: z.string().min(1).max(64).optional() });
export type RouterChatBody = z.infer<typeof routerChatBodySchema>;

export const chatBodySchema = routerChatBodySchema.extend({
  agentId: z.string().min(1).optional(),
  routerSlug: z.string().min(1).optional(),
});
export type ChatBody = z.infer<typeof chatBodySchema>;

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
