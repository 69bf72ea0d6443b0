import { z } from 'zod';
import {
  connectChannelBodySchema,
  connectedChannelSchema,
  connectionListSchema,
  connectionSchema,
  contactSchema,
  emailListSchema,
  emailSchema,
  listEmailsQuerySchema,
  listMessagesQuerySchema,
  messageListSchema,
  messageParamsSchema,
  messageSchema,
  retriedSchema,
  retryBodySchema,
  templateListSchema,
  updateConnectionBodySchema,
} from '../../http/manage/messages';
import { defineOperations, get, patch, post, remove } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const admin = { people: 'admin', rateLimited: true } as const;
const table = {
  listChannelMessages: get('/v1/messages', 'manage', { ...member, replica: true }),
  getChannelMessage: get('/v1/messages/:id', 'manage', member),
  getMessageMedia: get('/v1/messages/:id/media', 'manage', member),
  retryChannelMessage: post('/v1/messages/:id/retry', 'manage', member),
  listEmails: get('/v1/emails', 'manage', { ...member, replica: true }),
  getEmail: get('/v1/emails/:id', 'manage', member),
  retryEmail: post('/v1/emails/:id/retry', 'manage', member),
  getContact: get('/v1/contacts/:id', 'manage', member),
  listChannels: get('/v1/channels', 'manage', member),
  connectChannel: post('/v1/channels', 'manage', { ...admin, idempotent: true }),
  updateChannel: patch('/v1/channels/:id', 'manage', admin),
  disconnectChannel: remove('/v1/channels/:id', 'manage', admin),
  listChannelTemplates: get('/v1/channels/:id/templates', 'manage', member),
};

const message = {
  id: 'wam_01',
  messageId: 'wamid.01',
  direction: 'inbound',
  contact: '14155550134',
  threadId: null,
  type: 'image',
  text: 'My receipt',
  origin: null,
  location: null,
  reaction: null,
  contacts: null,
  status: 'answered',
  attempts: 1,
  error: null,
  media: {
    status: 'ready',
    filename: 'photo.jpg',
    contentType: 'image/jpeg',
    size: 204800,
    error: null,
  },
  createdAt: 1763683200000,
} as const;
const email = {
  id: 'email_01',
  providerId: null,
  to: ['ana@example.com'],
  subject: 'Your order',
  status: 'failed',
  attempts: 1,
  error: '422: validation_error',
  createdAt: 1763683200000,
};
const connection = {
  id: 'conn_01',
  channel: 'whatsapp',
  status: 'connected',
  phoneNumber: '15551234567',
  phoneNumberId: '109876543210987',
  customerId: 'customer-1',
  agent: 'shop-assistant',
  router: null,
  contactType: 'customer',
  webhookProblem: false,
} as const;
const invalidCursor = [
  'invalid_cursor',
  'The cursor is invalid or belongs to another list',
] as const;
const messageNotFound = ['message_not_found', 'Message not found'] as const;
const emailNotFound = ['email_not_found', 'E-mail not found'] as const;
const answererNotFound = [
  'answerer_not_found',
  'There is no agent "helper" in this environment',
] as const;
const tooManyConnecting = [
  'too_many_connecting',
  'Other channels of the organization are being connected',
] as const;
const channelNotFound = ['channel_not_found', 'Channel not found'] as const;

export const messageOperations = defineOperations('Conversations', table, {
  listChannelMessages: {
    summary: 'List messages of channels',
    description:
      'Returns messages from and to contacts, newest first, with their status at the provider.',
    query: listMessagesQuerySchema,
    response: messageListSchema,
    errors: { 400: [invalidCursor] },
    example: { response: { data: [message], cursor: 'c1.WyI…', hasMore: false } },
  },
  getChannelMessage: {
    summary: 'Retrieve a message',
    params: messageParamsSchema,
    response: messageSchema,
    errors: { 404: [messageNotFound] },
    example: { response: message },
  },
  getMessageMedia: {
    summary: 'Retrieve the file of a message',
    description:
      'The bytes of the picture, sound or document. JPEG, PNG, GIF and WebP pictures and sounds are sent `inline`, everything else as an attachment. Ranges are not supported.',
    params: messageParamsSchema,
    response: z.string().meta({ format: 'binary', description: 'The bytes of the file.' }),
    responseType: 'application/octet-stream',
    errors: {
      404: [messageNotFound, ['media_not_found', 'The message has no file']],
      429: [
        ['too_many_large_reads', 'Other large texts and files of the organization are being read'],
      ],
      409: [['media_not_ready', 'The file has not been fetched yet: the server answers 503']],
    },
  },
  retryChannelMessage: {
    summary: 'Send or answer a failed message again',
    description:
      'A failed outbound message is sent, a failed inbound one is answered. A message that the provider may have seen is replaced by one new message, however often it is retried.',
    params: messageParamsSchema,
    body: retryBodySchema,
    bodyOptional: true,
    response: retriedSchema,
    errors: {
      404: [messageNotFound],
      409: [
        ['not_failed', 'A delivered message cannot be retried'],
        ['in_doubt', 'The contact may have received the message. Send it again with anyway'],
        ['no_sender', 'No WhatsApp number is connected in this environment'],
        ['from_phone', 'The message was sent from the phone itself'],
      ],
    },
    example: { body: { anyway: true }, response: { id: 'wam_02' } },
  },
  listEmails: {
    summary: 'List e-mails',
    query: listEmailsQuerySchema,
    response: emailListSchema,
    errors: { 400: [invalidCursor] },
    example: { response: { data: [email], cursor: 'c1.WyI…', hasMore: false } },
  },
  getEmail: {
    summary: 'Retrieve an e-mail',
    params: messageParamsSchema,
    response: emailSchema,
    errors: { 404: [emailNotFound] },
    example: { response: email },
  },
  retryEmail: {
    summary: 'Send a failed e-mail again',
    description:
      'The provider keeps the idempotency key of an e-mail for a day. After that an e-mail whose status is `unknown` needs `anyway`.',
    params: messageParamsSchema,
    body: retryBodySchema,
    bodyOptional: true,
    response: retriedSchema,
    errors: {
      404: [emailNotFound],
      409: [
        ['not_failed', 'A delivered e-mail cannot be retried'],
        ['in_doubt', 'The recipient may have received the e-mail. Send it again with anyway'],
      ],
    },
    example: { body: {}, response: { id: 'email_01' } },
  },
  getContact: {
    summary: 'Retrieve a contact',
    description:
      'Accepts any alias of the contact: a phone number in any spelling, or a scoped id.',
    params: messageParamsSchema,
    response: contactSchema,
    errors: { 404: [['contact_not_found', 'Contact not found']] },
    example: {
      response: {
        id: '14155550134',
        phoneNumber: '14155550134',
        name: 'Ana',
        aliases: ['14155550134', 'US.13491208655302741918'],
        thread: { id: 'thread_01', externalId: 'whatsapp:14155550134' },
        messages: [message],
      },
    },
  },
  listChannels: {
    summary: 'List the connected channels',
    response: connectionListSchema,
    example: { response: { data: [connection] } },
  },
  connectChannel: {
    summary: 'Connect a WhatsApp number',
    description:
      'With `phoneNumberId`: connects a number of your account at the provider and registers its webhook. Connecting it again registers the webhook again. Without: makes a setup link, at which a person connects a number. With the account that organizations share, only customers that were made here and their numbers can be connected.',
    body: connectChannelBodySchema,
    status: 201,
    response: connectedChannelSchema,
    errors: {
      400: [
        answererNotFound,
        ['entity_type_not_found', 'There is no entity type "customer" in this environment'],
      ],
      409: [
        ['not_configured', 'Kapso is not configured (integrations set kapso)'],
        ['only_development', 'A number can be simulated in development only'],
        [
          'number_taken',
          'Number 109876543210987 is connected to another organization or environment',
        ],
        [
          'other_answerer',
          'Number 109876543210987 already has the connection conn_01, which agent helper answers',
        ],
        [
          'foreign_customer',
          'Number 109876543210987 belongs to a customer without a connection here. …',
        ],
        ['too_many', 'An environment has at most 50 channels. Disconnect one first'],
      ],
      429: [tooManyConnecting],
      502: [['provider_failed', 'Kapso: 404: Phone number not found']],
    },
    example: {
      body: { agent: 'shop-assistant', phoneNumberId: '109876543210987' },
      response: { channel: connection, setupLink: null },
    },
  },
  disconnectChannel: {
    summary: 'Disconnect a channel',
    description:
      'Deletes its webhook at the provider, then the channel. Messages are kept; those that are not answered or sent yet end as failed or unknown.',
    params: messageParamsSchema,
    response: z.object({ success: z.literal(true).describe('The channel is disconnected.') }),
    errors: {
      404: [channelNotFound],
      429: [tooManyConnecting],
      502: [['provider_failed', 'Kapso: no answer within 5000 ms']],
    },
    example: { response: { success: true } },
  },
  updateChannel: {
    summary: 'Change who answers a channel',
    description: 'Applies from the next message of each contact on.',
    params: messageParamsSchema,
    body: updateConnectionBodySchema,
    response: connectionSchema,
    errors: {
      400: [
        answererNotFound,
        ['entity_type_not_found', 'There is no entity type "customer" in this environment'],
      ],
      404: [channelNotFound],
    },
    example: { body: { agent: 'shop-assistant' }, response: connection },
  },
  listChannelTemplates: {
    summary: 'List the message templates of a channel',
    description: 'Asks the provider. Outside the 24-hour window only a template can be sent.',
    params: messageParamsSchema,
    response: templateListSchema,
    errors: {
      404: [channelNotFound],
      409: [['not_connected', 'The channel is not connected yet']],
      502: [['provider_failed', 'The provider did not answer']],
    },
    example: {
      response: {
        data: [{ name: 'reminder', language: 'es', status: 'APPROVED', components: [] }],
      },
    },
  },
});
