import { executionStreamSchema } from '../http/manage/executions';
import {
  createVisitorSessionBodySchema,
  listVisitorMessagesQuerySchema,
  sendVisitorMessageBodySchema,
  sentVisitorMessageSchema,
  visitorMessageListSchema,
  visitorQuerySchema,
  visitorSessionSchema,
  visitorStreamQuerySchema,
} from '../http/widget';
import { type ErrorExample, defineOperations, get, post } from './operation';

const visitor = { security: 'visitor' } as const;
const table = {
  createVisitorSession: post('/v1/widget/sessions', null, { isAudited: false }),
  sendVisitorMessage: post('/v1/widget/messages', null, {
    ...visitor,
    isAudited: false,
    idempotent: true,
  }),
  listVisitorMessages: get('/v1/widget/messages', null, visitor),
  streamVisitorThread: get('/v1/widget/stream', null, visitor),
};

const unknownKey: ErrorExample = ['unknown_key', 'Unauthorized'];
const noSession: ErrorExample = ['no_session', 'Unauthorized'];
const wrongOrigin: ErrorExample = ['origin_not_allowed', 'The key does not allow this origin'];
const tooMany: ErrorExample = [
  'too_many_requests',
  'Too many requests of the visitor, the address or the key',
];
const noLimit: ErrorExample = ['limit_unavailable', 'Visitors are temporarily not served'];
const errors = { 401: [unknownKey, noSession], 403: [wrongOrigin], 429: [tooMany], 503: [noLimit] };
const headers = { Origin: 'One of the origins of the key. Browsers send it.' };

export const widgetOperations = defineOperations('Widget', table, {
  createVisitorSession: {
    summary: 'Begin the session of a visitor',
    description:
      'Returns a token for 30 minutes, bound to the key, the visitor and the origin. Call it again to renew the token.',
    query: visitorQuerySchema,
    headers,
    body: createVisitorSessionBodySchema,
    bodyOptional: true,
    status: 201,
    response: visitorSessionSchema,
    errors: { ...errors, 401: [unknownKey, ['invalid_identity', 'Unauthorized']] },
    example: {
      body: {},
      response: { token: 'eyJ…', expiresAt: 1763685000000, visitorId: 'Zk3…', threadKey: 'n4b…' },
    },
  },
  sendVisitorMessage: {
    summary: 'Send a message of a visitor',
    description:
      "Stores a message in the visitor's thread, which the agent or the router of the key answers.",
    query: visitorQuerySchema,
    headers,
    body: sendVisitorMessageBodySchema,
    status: 202,
    response: sentVisitorMessageSchema,
    errors: {
      ...errors,
      400: [['invalid_params', 'plan is required']],
      404: [
        ['agent_not_found', 'Agent not found'],
        ['no_active_config', 'No active config found for agent "assistant" in production'],
        ['router_not_found', 'Router not found'],
      ],
    },
    example: {
      body: { message: 'Do you ship to Chile?' },
      response: { executionId: '3698432093388800', status: 'queued' },
    },
  },
  listVisitorMessages: {
    summary: 'List the messages of a visitor',
    description:
      "What the visitor, the agent and people wrote in the visitor's thread, newest first. Notes of people and tool calls are left out, so a page may have fewer messages than `limit`.",
    query: listVisitorMessagesQuerySchema,
    headers,
    response: visitorMessageListSchema,
    errors: {
      ...errors,
      400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']],
    },
    example: {
      response: {
        data: [
          {
            id: 'msg_01',
            executionId: '3698432093388800',
            from: 'agent',
            text: 'We do.',
            createdAt: 1763683204200,
          },
        ],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
  streamVisitorThread: {
    summary: 'Stream the answer to a visitor',
    description:
      "Streams the answer that the visitor's thread waits for, as `GET /v1/executions/:id/stream` does, without arguments and results of tools. The response is 204 without a body when it waits for none.",
    query: visitorStreamQuerySchema,
    headers: { ...headers, 'Last-Event-ID': 'The `id` of the last chunk that was received.' },
    response: executionStreamSchema,
    responseType: 'text/event-stream',
    otherResponses: { 204: { description: 'The thread waits for no answer.' } },
    errors: {
      ...errors,
      429: [
        tooMany,
        [
          'too_many_streams',
          'Too many streams and waits of the key, person or organization are open',
        ],
      ],
    },
    example: { response: 'id: 4\ndata: {"type":"text-delta","id":"text-1-1","delta":"We do"}\n\n' },
  },
});
