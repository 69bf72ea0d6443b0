import { z } from 'zod';
import { jsonObjectSchema } from '../json';

/** The text of this problem is part of the API (docs/reference/errors.md#chat-errors). */
const message = z
  .string({ error: 'message is required' })
  .refine((text) => text.trim() !== '', 'message is required')
  .describe("The user's message. Not blank.");

/**
 * Maximum size of the params of a message, in bytes of JSON. Those of a thread have at
 * most twice as many.
 */
const maxParamsBytes = 32 * 1024;

const threadContextSchema = z.object({
  params: jsonObjectSchema
    .refine((params) => new TextEncoder().encode(JSON.stringify(params)).length <= maxParamsBytes, {
      error: `must have at most ${maxParamsBytes} bytes of JSON`,
    })
    .optional()
    .describe(
      'Values for the prompt, such as `{{threadContext.params.plan}}`. They are stored on the thread. Their JSON has at most 32 KiB.',
    ),
});

/** Where a conversation takes place. `api` is the HTTP API. */
export const channels = ['api', 'whatsapp', 'widget', 'dashboard'] as const;

/**
 * Channels name their threads `<channel>:<contact>`. Such a name is refused from API callers,
 * because it would let any of them read and continue the conversation of a contact.
 */
const reserved = channels.filter((channel) => channel !== 'api').map((channel) => `${channel}:`);

/** An id or a name to look up. */
const optionalName = z.string().min(1).max(200).optional();

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
  threadId: optionalName.describe(
    'Continues the thread with this id. Takes precedence over `externalThreadId`.',
  ),
  externalThreadId: externalThreadId.optional(),
  threadContext: threadContextSchema.optional().describe('Context of the conversation.'),
};

const whole = {
  stream: z
    .unknown()
    .refine(
      (stream) => stream !== true,
      'A response of the chat is not streamed. POST /v1/executions streams it',
    )
    .optional()
    .describe(
      '`true` is refused: `POST /v1/executions` with `Accept: text/event-stream` streams the answer.',
    ),
};

export const agentChatBodySchema = z.object({ ...conversation, ...whole });

const routed = {
  phoneNumber: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(
      "The phone number of the contact, whose entity the router's rules read. Stored as the param `phoneNumber`.",
    ),
};

export const routerChatBodySchema = z.object({ ...conversation, ...routed, ...whole });

export const startExecutionBodySchema = z
  .strictObject({
    ...conversation,
    ...routed,
    agentSlug: optionalName.describe('Slug of the agent that answers.'),
    agentId: optionalName.describe('Id of the agent that answers.'),
    routerSlug: optionalName.describe('Slug of the router that chooses the agent.'),
    channel: z
      .enum(['api', 'dashboard'])
      .optional()
      .describe(
        'Channel of a new thread, and of the prompt. Another than `api` requires a person or the permission `manage`.',
      ),
    model: optionalName.describe(
      "Replaces the agent's model for this message, as `provider/name`. Requires a person or the permission `manage`.",
    ),
  })
  .refine(
    ({ agentSlug, agentId, routerSlug }) =>
      [agentSlug, agentId, routerSlug].filter(Boolean).length === 1,
    'Give exactly one of agentSlug, agentId and routerSlug',
  );

export const chatBodySchema = routerChatBodySchema.extend({
  agentId: z
    .string()
    .min(1)
    .optional()
    .describe('Id of the agent that answers. Required without `routerSlug`.'),
  routerSlug: z
    .string()
    .min(1)
    .optional()
    .describe('Slug of the router that chooses the agent. Takes precedence over `agentId`.'),
});

/**
 * Checked before the other fields of the body. The text is part of the API
 * (docs/reference/errors.md#chat-errors).
 */
export const namedAgentSchema = z.unknown().refine((body) => {
  const { agentId, routerSlug } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return Boolean(agentId ?? routerSlug);
}, 'agentId or routerSlug is required');

export const usageSchema = z.object({
  inputTokens: z.int().describe('Tokens that the model has read, in all its calls.'),
  outputTokens: z.int().describe('Tokens that the model has written.'),
  totalTokens: z.int().describe('The total as the provider counts it.'),
  reasoningTokens: z
    .int()
    .optional()
    .describe(
      'Tokens of reasoning, which are part of `outputTokens`. Present when the provider reports them.',
    ),
});
export type Usage = z.infer<typeof usageSchema>;

/**
 * Why an answer ended. `stop`: it is complete. `tool_calls`: a tool ended the turn, or its
 * model calls were used up. The others were cut off (`length`, `content_filter`, `error`),
 * or are a refusal.
 */
export const finishReasonSchema = z.enum([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'refusal',
  'error',
]);
export type FinishReason = z.infer<typeof finishReasonSchema>;

const toolCallSummarySchema = z.object({
  name: z.string().describe('Name of the tool.'),
  durationMs: z.number().describe('Duration in milliseconds.'),
  status: z.enum(['success', 'error']).describe('Whether the call succeeded.'),
  errorType: z
    .string()
    .optional()
    .describe('Kind of the failure, such as `permission_denied` or `timeout`.'),
  errorMessage: z.string().optional().describe('What the model was shown instead of a result.'),
  reason: z
    .string()
    .optional()
    .describe(
      'Of a denied call: which list, role or policy denies it, as far as the key may know.',
    ),
});
export type ToolCallSummary = z.infer<typeof toolCallSummarySchema>;

export const chatResponseSchema = z.object({
  threadId: z.string().describe('Id of the thread of the message. Send it with the next message.'),
  message: z.string().describe('The reply. Empty while a person has taken over the thread.'),
  usage: usageSchema.describe('Tokens of the turn.'),
  assistantMessageId: z
    .string()
    .optional()
    .describe('Id of the stored reply. Present when an agent replied.'),
  _executionMeta: z
    .object({
      iterationCount: z.number().describe('Calls of the model that were answered.'),
      model: z.string().describe('The model that answered last, such as `openai/gpt-5-mini`.'),
      durationMs: z
        .number()
        .describe(
          'Duration of the turn in milliseconds, the wait for earlier turns of the thread included.',
        ),
      toolCallSummary: z.array(toolCallSummarySchema).describe('The tool calls, in their order.'),
      errorCount: z.number().describe('Tool calls that failed, denied ones included.'),
      permissionDenialCount: z.number().describe('Tool calls that were denied.'),
      finishReason: finishReasonSchema.describe(
        'Why the reply ended. `stop`: it is complete. With `length`, `content_filter` and `error` it was cut off, with `refusal` the model refused.',
      ),
    })
    .optional()
    .describe('How the turn went. Present when an agent replied.'),
  _transferred: z
    .object({
      targetAgentSlug: z.string().describe('Slug of the agent that answers from now on.'),
      targetAgent: z.string().describe('Id of that agent.'),
    })
    .optional()
    .describe('Present when the agent has transferred the conversation.'),
  routedToAgent: z
    .string()
    .optional()
    .describe('Id of the agent that the router chose. Present in answers of routers.'),
  routedToAgentSlug: z
    .string()
    .optional()
    .describe('Slug of the agent that the router chose. Present in answers of routers.'),
});
export type ChatResponse = z.infer<typeof chatResponseSchema>;
