import {
  executionListSchema,
  executionParams,
  executionSchema,
  executionStreamSchema,
  getExecutionQuerySchema,
  listExecutionsQuerySchema,
  startedExecutionSchema,
  streamExecutionQuerySchema,
  streamThreadQuerySchema,
} from '../../http/manage/executions';
import { startExecutionBodySchema } from '../../http/chat';
import { threadParamsSchema } from '../../http/manage/threads';
import { type ErrorExample, defineOperations, get, post } from '../operation';

const own = { people: 'member', orManage: true } as const;
const table = {
  listExecutions: get('/v1/executions', 'manage', { people: 'member', replica: true }),
  startExecution: post('/v1/executions', 'chat', {
    ...own,
    isAudited: false,
    rateLimited: true,
    idempotent: true,
  }),
  getExecution: get('/v1/executions/:id', 'chat', { ...own }),
  streamExecution: get('/v1/executions/:id/stream', 'chat', { ...own, readOnly: false }),
  streamThread: get('/v1/threads/:id/stream', 'chat', { ...own, readOnly: false }),
  cancelExecution: post('/v1/executions/:id/cancel', 'chat', {
    ...own,
    isAudited: false,
    rateLimited: true,
  }),
};

const listed = {
  id: '3698432093388800',
  threadId: 'thread_01',
  agentSlug: 'shop-assistant',
  agentRevision: 57,
  routerSlug: null,
  status: 'succeeded',
  model: 'openai/gpt-5-mini',
  modelCallCount: 2,
  toolCallCount: 1,
  toolErrorCount: 0,
  inputTokens: 5120,
  outputTokens: 310,
  reasoningTokens: null,
  error: null,
  requestId: 'req_01',
  createdAt: 1763683200000,
  startedAt: 1763683200000,
  finishedAt: 1763683204200,
  durationMs: 4200,
  input: 'Where is my order 1042?',
};

const notFound: ErrorExample = ['not_found', 'Execution not found'];
const chunk = 'id: 4\ndata: {"type":"text-delta","id":"text-1-1","delta":"Your order"}\n\n';
const stream = {
  query: streamExecutionQuerySchema,
  headers: { 'Last-Event-ID': 'The `id` of the last chunk that was received.' },
  response: executionStreamSchema,
  responseType: 'text/event-stream',
  example: { response: chunk },
} as const;
const tooMany: ErrorExample = [
  'too_many_streams',
  'Too many streams and waits of the key, person or organization are open',
];
const usage = { inputTokens: 5120, outputTokens: 310, totalTokens: 5430 };
const started = {
  executionId: '3698432093388800',
  threadId: 'thread_01',
  status: 'queued',
  reply: null,
  finishReason: null,
} as const;
const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

export const executionsOperations = defineOperations('Executions', table, {
  listExecutions: {
    summary: 'List executions',
    description:
      'Returns the turns of agents in the environment, newest first. Filters can be combined. For the steps of one, get it by its id.',
    query: listExecutionsQuerySchema,
    response: executionListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [listed], cursor: 'c1.WyI…', hasMore: true } },
  },
  startExecution: {
    summary: 'Start an execution in the background',
    description:
      'Stores a message, which an agent answers in the background, also when the client disconnects. The header `Location` has the address of the execution. With `Prefer: wait=20` the response is sent when the execution has ended, or after 20 seconds (at most 30). With `Accept: text/event-stream` the response is the stream of the execution.',
    headers: {
      Prefer: '`wait=SECONDS`: waits for the end of the execution, at most 30 seconds.',
      Accept: '`text/event-stream`: streams the execution at once.',
    },
    body: startExecutionBodySchema,
    status: 202,
    otherResponses: {
      200: {
        description: 'The stream of the execution.',
        type: 'text/event-stream',
        example: chunk,
      },
    },
    response: startedExecutionSchema,
    errors: {
      400: [
        ['invalid_body', 'Give exactly one of agentSlug, agentId and routerSlug'],
        ['invalid_params', 'plan is required'],
      ],
      404: [
        ['agent_not_found', 'Agent not found'],
        ['no_active_config', 'No active config found for agent "assistant" in production'],
        ['router_not_found', 'Router not found'],
        ['thread_not_found', 'Thread not found'],
      ],
      429: [tooMany],
    },
    example: {
      body: { agentSlug: 'shop-assistant', message: 'Where is my order 1042?' },
      response: { ...started, usage: noUsage },
    },
  },
  streamExecution: {
    summary: 'Stream an execution',
    description:
      "The answer while it is written, as server-sent events in the AI SDK's UI message stream: text, tool calls, and the end. A client that connects again with `Last-Event-ID` gets what follows. After a `reset-step`, what the current step has written is void: another model or process has begun it again. A key without the permission `manage` gets no arguments and results of tools. A comment is sent every 15 seconds. A client that disconnects does not cancel the execution.",
    params: executionParams,
    ...stream,
    errors: { 404: [notFound], 429: [tooMany] },
  },
  streamThread: {
    summary: 'Stream the running execution of a thread',
    description:
      'Streams the execution that the thread runs, or runs next. The response is 204 without a body when it runs none. A key without the permission `manage` gets only executions that it has started; a thread in which it has started none is 404, whether it exists or not.',
    params: threadParamsSchema,
    ...stream,
    query: streamThreadQuerySchema,
    example: { response: chunk.replace('id: 4', 'id: 3698432093388800-4') },
    otherResponses: { 204: { description: 'The thread runs nothing.' } },
    errors: { 404: [['thread_not_found', 'Thread not found']], 429: [tooMany] },
  },
  cancelExecution: {
    summary: 'Cancel an execution',
    description:
      'Ends an execution that was started in the background. A model call or tool call that is running is completed, and no other begins. The response has the state afterwards; an execution that has ended stays as it is.',
    params: executionParams,
    response: startedExecutionSchema,
    errors: {
      404: [notFound],
      409: [
        [
          'not_in_background',
          'Only executions that were started with POST /v1/executions can be cancelled',
        ],
      ],
    },
    example: { response: { ...started, status: 'cancelled', usage } },
  },
  getExecution: {
    summary: 'Get an execution',
    description:
      'Returns one turn of an agent: the prompt as it was sent, each model call and tool call with the rule that allowed or denied it, the answer, and whether it was delivered. Arguments and results above 256 KiB are shortened. A key without the permission `manage` gets only the executions that it has started, without their prompt, steps and messages.',
    params: executionParams,
    query: getExecutionQuerySchema,
    response: executionSchema,
    errors: { 404: [notFound], 429: [tooMany] },
    example: {
      response: {
        ...listed,
        reply: 'Your order left yesterday.',
        finishReason: 'stop',
        usage,
        output: 'Your order left yesterday.',
        prompt: {
          text: 'You answer for a shop.',
          bytes: 22,
          isTruncated: false,
          tools: ['entity.query'],
        },
        steps: [
          {
            type: 'tool',
            callId: 'k3v9a01bz',
            name: 'entity.query',
            arguments: { type: 'order', filters: { 'data.number': 1042 } },
            argumentsStart: null,
            status: 'success',
            result: { data: [], cursor: '', hasMore: false },
            resultStart: null,
            errorType: null,
            errorMessage: null,
            permission: {
              allowed: true,
              reason: 'policies.2 of the role "sales" allows it',
              policies: [{ role: 'sales', policy: 2 }],
            },
            logs: [],
            startedAt: 1763683201400,
            durationMs: 12,
          },
        ],
        messages: [
          {
            id: 'msg_01',
            role: 'user',
            content: 'Where is my order 1042?',
            toolCallIds: [],
            createdAt: 1763683200000,
          },
        ],
        deliveries: [],
      },
    },
  },
});
