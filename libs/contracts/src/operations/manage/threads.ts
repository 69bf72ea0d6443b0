import {
  changeThreadBodySchema,
  erasedSchema,
  listThreadMessagesQuerySchema,
  listThreadsQuerySchema,
  noteBodySchema,
  noteSchema,
  presenceBodySchema,
  replyBodySchema,
  resumeBodySchema,
  resumedSchema,
  storedMessageSchema,
  takeOverBodySchema,
  takeoverSchema,
  threadCountsSchema,
  threadListSchema,
  threadMessageListSchema,
  threadMessageParamsSchema,
  threadMessageSchema,
  threadParamsSchema,
  threadSchema,
  visitedSchema,
} from '../../http/manage/threads';
import {
  type ErrorExample,
  defineOperations,
  get,
  mebibyte,
  patch,
  post,
  remove,
} from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const admin = { people: 'admin', rateLimited: true } as const;
const visit = { ...member, isAudited: false } as const;
const table = {
  listThreads: get('/v1/threads', 'manage', { ...member, replica: true }),
  countThreads: get('/v1/thread-counts', 'manage', { ...member, replica: true }),
  getThread: get('/v1/threads/:id', 'manage', member),
  listThreadMessages: get('/v1/threads/:id/messages', 'manage', member),
  getThreadMessage: get('/v1/threads/:id/messages/:messageId', 'manage', member),
  replyToThread: post('/v1/threads/:id/messages', 'manage', {
    ...member,
    idempotent: true,
    bodyLimitBytes: 14 * mebibyte,
  }),
  addThreadNote: post('/v1/threads/:id/notes', 'manage', { ...member, idempotent: true }),
  takeOverThread: post('/v1/threads/:id/takeover', 'manage', member),
  resumeThread: post('/v1/threads/:id/resume', 'manage', member),
  changeThread: patch('/v1/threads/:id', 'manage', member),
  eraseThread: remove('/v1/threads/:id', 'manage', admin),
  readThread: post('/v1/threads/:id/read', 'manage', visit),
  visitThread: post('/v1/threads/:id/presence', 'manage', visit),
};

const invalidCursor: ErrorExample = [
  'invalid_cursor',
  'The cursor is invalid or belongs to another list',
];
const notFound: ErrorExample = ['thread_not_found', 'Thread not found'];
const message = {
  id: 'msg_01',
  executionId: '3698432093388800',
  role: 'user' as const,
  author: null,
  content: '¿Tienen stock?',
  toolCallIds: [],
  channelMessageId: 'wam_01',
  delivery: null,
  createdAt: 1763683260000,
};
const thread = {
  id: 'thread_01',
  externalId: 'whatsapp:5691111:56922222222',
  channel: 'whatsapp',
  agentSlug: 'support',
  contactName: 'Ana',
  state: 'agent',
  status: 'open',
  assigneeId: null,
  labels: ['order'],
  takenOverBy: null,
  takenOverAt: null,
  resumesAt: null,
  waitingSince: null,
  waitingReason: null,
  isUnread: true,
  turnCount: 4,
  createdAt: 1763683200000,
  lastMessageAt: 1763683260000,
};
const details = {
  transferCount: 0,
  visitors: [],
  contactId: '56922222222',
  entity: { type: 'customer', id: 'ent_01' },
  windowEndsAt: 1763769600000,
};

export const threadOperations = defineOperations('Conversations', table, {
  listThreads: {
    summary: 'List threads',
    description:
      "Threads of the environment, the one with the contact's latest message first. A thread that gets a message between two pages moves to the front.",
    query: listThreadsQuerySchema,
    response: threadListSchema,
    errors: { 400: [invalidCursor] },
    example: {
      response: {
        data: [{ ...thread, lastInput: '¿Tienen stock?' }],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
  countThreads: {
    summary: 'Count open threads',
    description:
      'Open threads by state. No number is higher than 1,000, which means 1,000 or more.',
    response: threadCountsSchema,
    example: { response: { agent: 812, human: 3, waiting: 1, mine: 2 } },
  },
  getThread: {
    summary: 'Retrieve a thread',
    params: threadParamsSchema,
    response: threadSchema,
    errors: { 404: [notFound] },
    example: {
      response: { ...thread, params: { plan: 'free' }, ...details },
    },
  },
  listThreadMessages: {
    summary: 'List the messages of a thread',
    description:
      'What the contact, the agent and people wrote, newest first. Long texts are cut, which `isTruncated` says. Results of tools are in the execution.',
    params: threadParamsSchema,
    query: listThreadMessagesQuerySchema,
    response: threadMessageListSchema,
    errors: { 400: [invalidCursor], 404: [notFound] },
    example: {
      response: {
        data: [message],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
  getThreadMessage: {
    summary: 'Get a message of a thread',
    description: 'Returns one message with all its text, which a list cuts.',
    params: threadMessageParamsSchema,
    response: threadMessageSchema,
    errors: {
      404: [notFound, ['message_not_found', 'Message not found']],
      429: [
        ['too_many_large_reads', 'Other large texts and files of the organization are being read'],
      ],
    },
    example: { response: message },
  },
  replyToThread: {
    summary: 'Reply to the contact',
    description:
      'Stores a reply of a person in the thread, takes the thread over for this person, and sends the reply over the channel, once. A reply of the agent that is already in the outbox is sent before it; one that is not, is dropped. On other channels than WhatsApp the reply is stored and not sent: the contact reads it with the messages of the thread. More than 24 hours after the last message of the contact, WhatsApp takes only templates: `window_closed`.',
    params: threadParamsSchema,
    body: replyBodySchema,
    status: 201,
    response: storedMessageSchema,
    errors: {
      400: [
        ['file_refused', 'A voice note or sound has no text beside it'],
        ['no_channel', 'Files and templates need a channel, which threads of the API have not'],
      ],
      404: [notFound],
      409: [
        [
          'window_closed',
          'More than 24 hours since the last message of the contact: send a template',
        ],
        ['thread_changed', 'The thread has a newer message'],
        ['no_sender', 'No WhatsApp number is connected in this environment'],
        ['no_message', 'The contact has not written in this thread yet'],
      ],
    },
    example: {
      body: { text: 'Sí, quedan dos.', lastMessageId: 'msg_01' },
      response: { id: 'msg_02', channelMessageId: 'wam_02' },
    },
  },
  addThreadNote: {
    summary: 'Add a note to a thread',
    description: 'A note for people. Neither the contact nor the agent gets it.',
    params: threadParamsSchema,
    body: noteBodySchema,
    status: 201,
    response: noteSchema,
    errors: {
      404: [notFound],
      409: [['no_message', 'The contact has not written in this thread yet']],
    },
    example: { body: { text: 'Paid in the shop.' }, response: { id: 'msg_03' } },
  },
  takeOverThread: {
    summary: 'Take a thread over',
    description:
      'What the contact writes after this is stored, and the agent does not answer it. A message that the agent is answering now gets no reply, and the agent calls no further tool for it.',
    params: threadParamsSchema,
    body: takeOverBodySchema,
    bodyOptional: true,
    response: takeoverSchema,
    errors: { 400: [['invalid_time', 'until must be in the future']], 404: [notFound] },
    example: {
      body: { until: 1763686800000 },
      response: { id: 'thread_01', state: 'human', changed: true },
    },
  },
  resumeThread: {
    summary: 'End a takeover',
    description:
      'The agent answers again. On WhatsApp, if the last message of the contact has no answer, the agent answers it now, once. On other channels it answers the next message.',
    params: threadParamsSchema,
    body: resumeBodySchema,
    bodyOptional: true,
    response: resumedSchema,
    errors: { 404: [notFound] },
    example: {
      body: { note: 'She gets 10% off.' },
      response: { id: 'thread_01', state: 'agent', changed: true, answering: false },
    },
  },
  changeThread: {
    summary: 'Assign, close or label a thread',
    params: threadParamsSchema,
    body: changeThreadBodySchema,
    response: threadSchema,
    errors: {
      400: [['unknown_person', 'No member of the organization has this id']],
      404: [notFound],
    },
    example: {
      body: { status: 'closed', labels: ['order'] },
      response: {
        ...thread,
        status: 'closed',
        params: {},
        ...details,
      },
    },
  },
  eraseThread: {
    summary: 'Erase a thread',
    description:
      'Deletes the thread with its messages, executions and prompts, and the messages and files of its contact on the channel. This cannot be undone.',
    params: threadParamsSchema,
    response: erasedSchema,
    errors: {
      404: [notFound],
      409: [['turn_running', 'The agent is answering a message of the thread']],
    },
    example: { response: { erased: true } },
  },
  readThread: {
    summary: 'Mark a thread as read',
    description: 'Read marks belong to the caller.',
    params: threadParamsSchema,
    response: visitedSchema,
    errors: { 404: [notFound] },
    example: { response: { ok: true } },
  },
  visitThread: {
    summary: 'Say that a thread is open',
    description: 'Others see the caller in `visitors` of the thread.',
    params: threadParamsSchema,
    body: presenceBodySchema,
    response: visitedSchema,
    errors: { 404: [notFound] },
    example: { body: { isOpen: true, isTyping: true }, response: { ok: true } },
  },
});
