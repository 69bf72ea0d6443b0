import {
  listThreadMessagesQuerySchema,
  listThreadsQuerySchema,
  takeoverSchema,
  threadListSchema,
  threadMessageListSchema,
  threadParamsSchema,
  threadSchema,
} from '../../http/manage/threads';
import { type ErrorExample, defineOperations, get, post } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const table = {
  listThreads: get('/v1/threads', 'manage', member),
  getThread: get('/v1/threads/:id', 'manage', member),
  listThreadMessages: get('/v1/threads/:id/messages', 'manage', member),
  takeOverThread: post('/v1/threads/:id/takeover', 'manage', member),
  resumeThread: post('/v1/threads/:id/resume', 'manage', member),
};

const invalidCursor: ErrorExample = ['invalid_cursor', 'The cursor is invalid or belongs to another list'];
const notFound: ErrorExample = ['thread_not_found', 'Thread not found'];
const thread = {
  id: 'thread_01',
  externalId: 'whatsapp:5691111:56922222222',
  channel: 'whatsapp',
  agentSlug: 'support',
  state: 'agent',
  turnCount: 4,
  createdAt: 1763683200000,
  lastMessageAt: 1763683260000,
};

export const threadOperations = defineOperations('Conversations', table, {
  listThreads: {
    summary: 'List threads',
    description:
      'Threads of the environment, the one with the latest message first. A thread that gets a message between two pages moves to the front.',
    query: listThreadsQuerySchema,
    response: threadListSchema,
    errors: { 400: [invalidCursor] },
    example: {
      response: { data: [{ ...thread, lastInput: '¿Tienen stock?' }], cursor: 'c1.WyI…', hasMore: false },
    },
  },
  getThread: {
    summary: 'Retrieve a thread',
    params: threadParamsSchema,
    response: threadSchema,
    errors: { 404: [notFound] },
    example: { response: { ...thread, params: { plan: 'free' }, transferCount: 0 } },
  },
  listThreadMessages: {
    summary: 'List the messages of a thread',
    description: 'What the contact and the agent wrote, newest first. Results of tools are in the execution.',
    params: threadParamsSchema,
    query: listThreadMessagesQuerySchema,
    response: threadMessageListSchema,
    errors: { 400: [invalidCursor], 404: [notFound] },
    example: {
      response: {
        data: [
          {
            id: 'msg_01',
            executionId: '3698432093388800',
            role: 'user',
            content: '¿Tienen stock?',
            toolCallIds: [],
            createdAt: 1763683260000,
          },
        ],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
  takeOverThread: {
    summary: 'Take a thread over',
    description: 'What the contact writes after this is stored, and the agent does not answer it.',
    params: threadParamsSchema,
    response: takeoverSchema,
    errors: { 404: [notFound] },
    example: { response: { id: 'thread_01', state: 'human', changed: true } },
  },
  resumeThread: {
    summary: 'End a takeover',
    description: 'The agent answers the next message of the contact.',
    params: threadParamsSchema,
    response: takeoverSchema,
    errors: { 404: [notFound] },
    example: { response: { id: 'thread_01', state: 'agent', changed: true } },
  },
});
