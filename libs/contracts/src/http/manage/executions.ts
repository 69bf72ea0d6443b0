import { z } from 'zod';
import { finishReasonSchema, usageSchema } from '../chat';
import { logLineSchema } from '../../executor';
import { idParams, listOf, pageQuery, time, timeInQuery, timeOrNull, truncated } from './list';

const executionStatuses = [
  'queued',
  'running',
  'stalled',
  'succeeded',
  'stored',
  'failed',
  'cancelled',
] as const;
const statusTexts =
  '`queued`: waits for earlier turns of the thread. `stalled`: its process no longer renews its lease. `stored`: not answered, because a person had taken over. `cancelled`: ended by a request.';

const tokens = {
  inputTokens: z.number().int().describe('Tokens that the model has read.'),
  outputTokens: z.number().int().describe('Tokens that the model has written.'),
  reasoningTokens: z
    .number()
    .int()
    .nullable()
    .describe('Tokens of reasoning, if the provider reports them.'),
};

const executionFields = {
  id: z.string().describe('Id of the execution. Increases with time.'),
  threadId: z.string().describe('Thread of the message.'),
  agentSlug: z.string().nullable().describe('Slug of the agent that answers.'),
  agentRevision: z
    .number()
    .int()
    .nullable()
    .describe("Revision of the agent's definition. Null before the first stored step."),
  routerSlug: z.string().nullable().describe('Slug of the router that chose the agent.'),
  status: z.enum(executionStatuses).describe(statusTexts),
  model: z.string().nullable().describe('The model that answered last.'),
  modelCallCount: z.number().int().describe('Calls of the model that were answered.'),
  toolCallCount: z.number().int().describe('Tool calls that have ended.'),
  toolErrorCount: z.number().int().describe('Tool calls that failed or were denied.'),
  ...tokens,
  error: z.string().nullable().describe('Why the execution failed.'),
  requestId: z
    .string()
    .nullable()
    .describe(
      'Id of the request, as in logs. On a channel the id of the message that is answered.',
    ),
  createdAt: time('When the message arrived.'),
  startedAt: timeOrNull('When the turn began, after earlier turns of the thread.'),
  finishedAt: timeOrNull('When the turn ended.'),
  durationMs: z
    .number()
    .int()
    .nullable()
    .describe('Milliseconds from the beginning to the end of the turn.'),
};

const listedExecutionSchema = z.object({
  ...executionFields,
  input: z.string().describe('The first 200 characters of the message.'),
});

export const listExecutionsQuerySchema = z.object({
  ...pageQuery,
  agent: z.string().max(200).optional().describe('Only executions of the agent with this slug.'),
  thread: z.string().max(200).optional().describe('Only executions of the thread with this id.'),
  status: z
    .enum(executionStatuses)
    .optional()
    .describe(`Only executions with this status. ${statusTexts}`),
  toolErrors: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description: 'With `true` only executions with a failed or denied tool call.' }),
  since: timeInQuery('Only executions from this time on.'),
});

export const executionListSchema = listOf(listedExecutionSchema);

const ended = {
  status: z.enum(executionStatuses).describe(statusTexts),
  reply: z.string().nullable().describe('The answer; null without one.'),
  finishReason: finishReasonSchema
    .nullable()
    .describe(
      'Why the answer ended. Null until the execution has ended, and for one that a person ended.',
    ),
  usage: usageSchema.describe('Tokens of the turn so far.'),
};

/** An execution that was started with `POST /v1/executions`. */
export const startedExecutionSchema = z.object({
  executionId: z.string().describe('Id of the execution.'),
  threadId: z.string().describe('Thread of the message.'),
  ...ended,
});

export const getExecutionQuerySchema = z.object({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(30)
    .default(0)
    .describe(
      'Seconds to wait for the end of the execution. It is returned then, or earlier when it ends.',
    ),
});

/** Ids are made from the time. Others belong to no execution. */
export const executionParams = idParams;

export const streamThreadQuerySchema = z.object({
  after: z
    .string()
    .max(200)
    .default('')
    .describe(
      'The id of the last chunk that was received, for clients that cannot send `Last-Event-ID`.',
    ),
});

export const streamExecutionQuerySchema = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .max(9_999_999)
    .default(0)
    .describe(
      'The number of the last chunk that was received, for clients that cannot send `Last-Event-ID`.',
    ),
});

export const executionStreamSchema = z
  .string()
  .describe(
    "Server-sent events. Each `data` is a chunk of the AI SDK's UI message stream, such as `text-delta`; each `id` its number. The last `data` is `[DONE]`.",
  );

const modelStepSchema = z.object({
  type: z.literal('model').describe('A call of the model.'),
  model: z.string().describe('The model, such as `openai/gpt-5-mini`.'),
  purpose: z
    .enum(['routing', 'reply'])
    .describe('`routing`: a router let the model choose the agent.'),
  status: z.enum(['success', 'error']).describe('Whether the model answered.'),
  error: z.string().nullable().describe('Why the call failed.'),
  finishReason: finishReasonSchema
    .nullable()
    .describe('Why the answer ended. Null for a call that failed.'),
  durationMs: z.number().describe('Duration in milliseconds, with retries.'),
  ...tokens,
});

export const permissionExplanationSchema = z.object({
  allowed: z.boolean().describe('Whether the operation is allowed.'),
  reason: z.string().describe('Which list, role or policy decides.'),
  policies: z
    .array(
      z.object({
        role: z.string().describe('Slug of the role.'),
        policy: z.number().int().describe("Position in the role's `policies`, from 0."),
      }),
    )
    .describe(
      'The policies that decide: one of each list of roles that limits the caller. Empty when none decides.',
    ),
});

const toolStepSchema = z.object({
  type: z.literal('tool').describe('A call of a tool.'),
  callId: z.string().describe('Id of the call within the execution.'),
  name: z.string().describe('Name of the tool.'),
  arguments: z.unknown().describe('The arguments, as the model gave them.'),
  argumentsStart: z
    .string()
    .nullable()
    .describe(
      'The beginning of the arguments as JSON, instead of `arguments`, when they are too large to be shown.',
    ),
  status: z
    .enum(['success', 'error', 'running', 'unknown'])
    .describe(
      '`unknown`: its process ended during the call, which may or may not have taken effect.',
    ),
  result: z.unknown().describe('What the tool returned; null for a call without a result.'),
  resultStart: z
    .string()
    .nullable()
    .describe(
      'The beginning of the result as JSON, instead of `result`, when the result is too large to be shown.',
    ),
  errorType: z.string().nullable().describe('Kind of the failure, such as `permission_denied`.'),
  errorMessage: z.string().nullable().describe('What the model was shown instead of a result.'),
  permission: permissionExplanationSchema
    .nullable()
    .describe(
      'Which role and policy allowed or denied the call. Null while it runs, and for tools that do not exist.',
    ),
  logs: z.array(logLineSchema).describe('What the handler of a custom tool wrote to its console.'),
  startedAt: time('When the call was stored, before it began.'),
  durationMs: z.number().nullable().describe('Duration in milliseconds; null while it runs.'),
});

const messageSchema = z.object({
  id: z.string().describe('Id of the message.'),
  role: z.enum(['user', 'assistant']).describe('Who wrote it.'),
  content: z
    .string()
    .describe(
      'The text, at most its first 65,536 characters. Empty for a message that only calls tools.',
    ),
  isTruncated: truncated('`GET /v1/threads/:id/messages/:messageId` returns all of it.'),
  toolCallIds: z.array(z.string()).describe('The calls that the message asks for.'),
  createdAt: time('When it was stored.'),
});

const promptSchema = z.object({
  text: z
    .string()
    .describe('The system prompt as it was sent, compiled. At most its first 256 KiB.'),
  bytes: z.number().int().describe('Size of the whole prompt in UTF-8.'),
  isTruncated: z.boolean().describe('Whether `text` is only the beginning.'),
  tools: z.array(z.string()).describe('Names of the tools that were offered to the model.'),
});

const deliverySchema = z.object({
  messageId: z.string().describe('Id of the message of the channel, as in `GET /v1/messages`.'),
  status: z
    .string()
    .describe('Such as `pending`, `sent`, `delivered`, `read`, `failed` or `unknown`.'),
  error: z.string().nullable().describe('Why it was not delivered.'),
  createdAt: time('When it was stored for sending.'),
});

export const executionSchema = z.object({
  ...executionFields,
  input: z.string().describe('The message, at most its first 1,048,576 characters.'),
  isInputTruncated: z
    .literal(true)
    .optional()
    .describe(
      '`input` is only the beginning. `GET /v1/threads/:id/messages/:messageId` returns all of it.',
    ),
  reply: ended.reply,
  finishReason: ended.finishReason,
  usage: ended.usage,
  output: z.string().nullable().describe('The same as `reply`.'),
  prompt: promptSchema
    .nullable()
    .describe(
      'What was sent to the model. Null before the first stored step, and for executions before prompts were stored.',
    ),
  steps: z
    .array(z.union([modelStepSchema, toolStepSchema]))
    .describe('Model calls and tool calls, in their order.'),
  messages: z.array(messageSchema).describe('The messages of the turn, in their order.'),
  deliveries: z
    .array(deliverySchema)
    .describe(
      'The messages by which the answer was sent on a channel. Empty when the caller got it in its response.',
    ),
});
