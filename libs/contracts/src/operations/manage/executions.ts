import {
  executionListSchema,
  executionParams,
  executionSchema,
  listExecutionsQuerySchema,
} from '../../http/manage/executions';
import { defineOperations, get } from '../operation';

const table = {
  listExecutions: get('/v1/executions', 'manage', { people: 'member' }),
  getExecution: get('/v1/executions/:id', 'manage', { people: 'member' }),
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
  getExecution: {
    summary: 'Get an execution',
    description:
      'Returns one turn of an agent: the prompt as it was sent, each model call and tool call with the rule that allowed or denied it, the answer, and whether it was delivered. Results above 256 KiB are shortened.',
    params: executionParams,
    response: executionSchema,
    errors: { 404: [['not_found', 'Execution not found']] },
    example: {
      response: {
        ...listed,
        output: 'Your order left yesterday.',
        prompt: { text: 'You answer for a shop.', bytes: 22, isTruncated: false, tools: ['entity.query'] },
        steps: [
          {
            type: 'tool',
            callId: 'k3v9a01bz',
            name: 'entity.query',
            arguments: { type: 'order', filters: { 'data.number': 1042 } },
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
          { id: 'msg_01', role: 'user', content: 'Where is my order 1042?', toolCallIds: [], createdAt: 1763683200000 },
        ],
        deliveries: [],
      },
    },
  },
});
