import { z } from 'zod';
import {
  agentChatBodySchema,
  chatBodySchema,
  chatResponseSchema,
  namedAgentSchema,
  routerChatBodySchema,
} from '../http/chat';
import { type ErrorExample, defineOperations, mebibyte, post, tooManyTurns } from './operation';

/**
 * Chat bodies may be larger than others: up to 8 MiB (docs/reference/limits.md#requests). A turn is
 * recorded as an execution, and its events have the person in `actor`.
 */
const limits = {
  people: 'member',
  isAudited: false,
  bodyLimitBytes: 8 * mebibyte,
  idempotent: true,
  rateLimited: true,
} as const;
const table = {
  chatWithAgent: post('/v1/agents/:slug/chat', 'chat', { ...limits }),
  chatWithRouter: post('/v1/routers/:slug/chat', 'chat', { ...limits }),
  chat: post('/v1/chat', 'chat', { ...limits }),
};

const slugParams = z.object({ slug: z.string().describe('Slug of the agent or router.') });

const reply = {
  threadId: 'thread_01m82a6hyc000dmyect2cs41n3',
  message: 'The Dome tent is in stock.',
  usage: { inputTokens: 312, outputTokens: 18, totalTokens: 330 },
  assistantMessageId: 'msg_01m82a6hzq00076a863xt77v4z',
  _executionMeta: {
    iterationCount: 2,
    model: 'openai/gpt-5-mini',
    durationMs: 1840,
    toolCallSummary: [{ name: 'entity.query', durationMs: 6, status: 'success' }],
    errorCount: 0,
    permissionDenialCount: 0,
    finishReason: 'stop',
  },
};

const errors = {
  400: [
    ['invalid_body', 'message is required'],
    ['invalid_params', 'plan is required'],
  ],
  404: [['thread_not_found', 'Thread not found']],
  429: [tooManyTurns],
  500: [
    ['agent_not_found', 'Agent not found'],
    ['no_active_config', 'No active config found for agent "assistant" in production'],
  ],
  502: [
    ['model_failed', 'The model openai/gpt-5-mini could not answer'],
    ['model_not_configured', 'No provider is configured for the model openai/gpt-5-mini'],
    [
      'content_filter',
      'The content filter of the model openai/gpt-5-mini refused the message or the answer',
    ],
    ['refusal', 'The model openai/gpt-5-mini refused to answer'],
    ['length', 'The model openai/gpt-5-mini reached its limit before it wrote a reply'],
    ['empty_answer', 'The model openai/gpt-5-mini answered without a text'],
  ],
  503: [
    ['thread_busy', 'Earlier messages of this thread are still being answered'],
    ['interrupted', 'The message was interrupted; it is stored, but has no answer'],
  ],
  504: [
    ['model_timeout', 'The model openai/gpt-5-mini did not answer in time'],
    ['turn_timeout', 'The message could not be answered in time'],
  ],
} satisfies Record<number, readonly ErrorExample[]>;
const routerErrors = {
  ...errors,
  500: [['router_not_found', 'Router not found'], ...errors[500]],
} satisfies Record<number, readonly ErrorExample[]>;

export const chatOperations = defineOperations('Chat', table, {
  chatWithAgent: {
    summary: 'Send a message to an agent',
    description:
      'Sends a message to the agent with this slug and returns its reply. Pass `threadId` or `externalThreadId` to continue a thread; without either, a new thread is created. Messages of one thread are answered one after the other, in the order in which they arrive.',
    params: slugParams,
    body: agentChatBodySchema,
    response: chatResponseSchema,
    errors,
    example: {
      body: { message: 'Which tents do you have?', externalThreadId: 'web:42' },
      response: reply,
    },
  },
  chatWithRouter: {
    summary: 'Send a message to a router',
    description:
      'The router chooses the agent that answers, by its rules or by classifying the message. The response contains the chosen agent in `routedToAgent` and `routedToAgentSlug`.',
    params: slugParams,
    body: routerChatBodySchema,
    response: chatResponseSchema,
    errors: routerErrors,
    example: {
      body: { message: 'Where is my order?', phoneNumber: '+56911112222' },
      response: {
        ...reply,
        routedToAgent: 'agent_01m82a61xd000eg07n90n4cv9g',
        routedToAgentSlug: 'assistant',
      },
    },
  },
  chat: {
    summary: 'Send a message by agent id or router slug',
    description: 'Requires `agentId` or `routerSlug`. If both are given, the router is used.',
    body: namedAgentSchema.pipe(chatBodySchema),
    documentedBody: chatBodySchema,
    response: chatResponseSchema,
    errors: {
      ...routerErrors,
      400: [['invalid_body', 'agentId or routerSlug is required'], ...errors[400]],
    },
    example: {
      body: { agentId: 'agent_01m82a61xd000eg07n90n4cv9g', message: 'Hello' },
      response: reply,
    },
  },
});
