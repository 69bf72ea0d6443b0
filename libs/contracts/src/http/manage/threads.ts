import { z } from 'zod';
import { jsonObjectSchema } from '../../json';
import { listOf, pageQuery, time, timeInBody, timeInQuery, timeOrNull, truncated } from './list';

export const threadParamsSchema = z.object({
  id: z.string().min(1).max(500).describe('Id of the thread, or its external id.'),
});

const state = z.enum(['agent', 'human', 'waiting']);
const status = z.enum(['open', 'closed']);
const label = z.string().trim().min(1).max(50);
const authorSchema = z.object({
  type: z
    .enum(['person', 'api_key', 'phone'])
    .describe("`phone`: a person with the phone's own app."),
  id: z.string().describe('Id of the person or of the API key.'),
  name: z.string().describe('Name of the person, else the e-mail address; or name of the key.'),
});

const threadFields = {
  id: z.string().describe('Id of the thread.'),
  externalId: z
    .string()
    .nullable()
    .describe("The client's or the channel's id of the conversation."),
  channel: z.string().describe('`api`, `whatsapp`, `widget` or `dashboard`.'),
  agentSlug: z.string().nullable().describe('The agent that answered last.'),
  contactName: z
    .string()
    .nullable()
    .describe('The name that the contact uses on the channel, at most its first 200 characters.'),
  state: state.describe(
    'Who answers: the agent, a person, or none until a person does (`waiting`).',
  ),
  status: status.describe('A message of the contact opens a closed thread.'),
  assigneeId: z.string().nullable().describe('Id of the person who looks after the thread.'),
  labels: z.array(z.string()).describe('Labels, in the order that they were set.'),
  takenOverBy: authorSchema.nullable().describe('Who answers, in state `human`.'),
  takenOverAt: timeOrNull('When the person took the thread over.'),
  resumesAt: timeOrNull('When the agent answers again. Null: when a person says so.'),
  waitingSince: timeOrNull('When the agent asked for a person, in state `waiting`.'),
  waitingReason: z.string().nullable().describe('Why the agent asked for a person.'),
  isUnread: z
    .boolean()
    .describe('The contact has written since the caller has marked the thread as read.'),
  turnCount: z.number().int().describe('Number of messages that were received.'),
  createdAt: time('When the first message arrived.'),
  lastMessageAt: time("When the contact's last message arrived."),
};

export const listThreadsQuerySchema = z.object({
  ...pageQuery,
  agent: z.string().max(200).optional().describe('Only threads that this agent answered last.'),
  channel: z.string().max(50).optional().describe('Only threads of this channel.'),
  state: state
    .optional()
    .describe('Only threads that the agent or a person answers, or that wait for a person.'),
  status: status.optional().describe('Only open or only closed threads.'),
  assignee: z.string().max(200).optional().describe('Only threads that this person looks after.'),
  unread: z.literal('true').optional().describe('Only threads that the caller has not read.'),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("A part of the contact's name or of the external id."),
  label: z.string().max(50).optional().describe('Only threads with this label.'),
  since: timeInQuery('Only threads with a message of the contact since this time.'),
});

export const threadListSchema = listOf(
  z.object({
    ...threadFields,
    lastInput: z
      .string()
      .nullable()
      .describe('The first 200 characters of the last message that was received.'),
  }),
);

export const threadSchema = z.object({
  ...threadFields,
  params: jsonObjectSchema.describe('The values that prompts read as `threadContext.params`.'),
  transferCount: z
    .number()
    .int()
    .describe('Transfers to other agents since the last pause of four hours.'),
  visitors: z
    .array(
      authorSchema.extend({
        isTyping: z.boolean().describe('Whether this visitor is writing a reply.'),
      }),
    )
    .describe('Who has the thread open.'),
  contactId: z
    .string()
    .nullable()
    .describe('The contact in `/v1/contacts/:id`. Null for channels without contacts.'),
  entity: z
    .object({
      type: z.string().describe('Slug of the entity type.'),
      id: z.string().describe('Id of the entity.'),
    })
    .nullable()
    .describe(
      "The only entity of the connection's contact type that has the contact's number in a phone field, as `56912345678` or `+56912345678`. Null when none or several have it. `actor.entityId` finds other spellings too.",
    ),
  windowEndsAt: timeOrNull(
    'Until when WhatsApp takes a reply that is no template. Null: it takes none, or the thread is not one of WhatsApp.',
  ),
});

export const threadCountsSchema = z.object({
  agent: z.number().int().describe('Open threads that the agent answers.'),
  human: z.number().int().describe('Open threads that a person answers.'),
  waiting: z.number().int().describe('Open threads that wait for a person.'),
  mine: z.number().int().describe('Open threads that the caller looks after.'),
});

const deliverySchema = z.object({
  id: z.string().describe('Id of the message, or of its last retry, in `/v1/messages`.'),
  status: z
    .string()
    .describe('`queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` or `held`.'),
  error: z.string().nullable().describe('Why it failed, or the reason of the last attempt.'),
});

export const listThreadMessagesQuerySchema = z.object(pageQuery);
const messageContent = 'May be empty for a message of the agent that only calls tools.';
export const threadMessageSchema = z.object({
  id: z.string().describe('Id of the message.'),
  executionId: z.string().describe('The execution of its turn, which has the tool calls.'),
  role: z
    .enum(['user', 'assistant', 'note', 'system'])
    .describe(
      '`user`: from the contact. `assistant`: to the contact. `note`: for people only. `system`: from a person to the agent.',
    ),
  author: authorSchema
    .nullable()
    .describe('The person who wrote it. Null: the contact or the agent.'),
  content: z.string().describe(`The text. ${messageContent}`),
  toolCallIds: z.array(z.string()).describe('Ids of the tool calls that the message asks for.'),
  channelMessageId: z
    .string()
    .nullable()
    .describe(
      "Id of the contact's message in `/v1/messages`, which may have a file. Null on channel `api`.",
    ),
  delivery: deliverySchema
    .nullable()
    .describe('How a message to the contact was delivered. Null on channel `api`.'),
  createdAt: time('When it was stored.'),
});

export const threadMessageListSchema = listOf(
  threadMessageSchema.extend({
    content: z
      .string()
      .describe(`The text, at most its first 65,536 characters. ${messageContent}`),
    isTruncated: truncated('`GET /v1/threads/:id/messages/:messageId` returns all of it.'),
  }),
);

export const threadMessageParamsSchema = threadParamsSchema.extend({
  messageId: z.string().min(1).max(200).describe('Id of the message.'),
});

export const takeOverBodySchema = z.strictObject({
  until: timeInBody('When the agent answers again. Absent: when the takeover is ended.').optional(),
});
export const resumeBodySchema = z.strictObject({
  note: z
    .string()
    .trim()
    .min(1)
    .max(4_000)
    .optional()
    .describe('What the agent should know. The contact does not get it.'),
});

export const replyBodySchema = z
  .strictObject({
    text: z
      .string()
      .trim()
      .min(1)
      .max(4_096)
      .optional()
      .describe('The text, or the text beside the file.'),
    template: z
      .strictObject({
        name: z.string().min(1).max(512).describe('Name of the template.'),
        language: z.string().min(2).max(15).describe('Its language, such as `es` or `en_US`.'),
        components: z
          .array(jsonObjectSchema)
          .max(20)
          .optional()
          .describe("Values of its variables, in Meta's form."),
      })
      .optional()
      .describe('A template, which may be sent at any time. Without text and file.'),
    file: z
      .strictObject({
        filename: z.string().min(1).max(200).describe('The name that the contact sees.'),
        data: z.base64().min(1).max(14_000_000).describe('The bytes in Base64; at most 10 MiB.'),
      })
      .optional()
      .describe('One file. Its type is read from the bytes.'),
    lastMessageId: z
      .string()
      .max(200)
      .optional()
      .describe(
        'The last message that the writer has seen. If there is a newer one, nothing is sent: `thread_changed`.',
      ),
  })
  .refine(
    ({ text, template, file }) =>
      template === undefined
        ? text !== undefined || file !== undefined
        : text === undefined && file === undefined,
    'must have a text, a file or both, or only a template',
  );
export const storedMessageSchema = z.object({
  id: z.string().describe('Id of the message in the thread.'),
  channelMessageId: z
    .string()
    .nullable()
    .describe('Id of the message in `/v1/messages`. Null on channel `api`.'),
});

export const noteBodySchema = z.strictObject({
  text: z.string().trim().min(1).max(10_000).describe('The note. Only people read it.'),
});
export const noteSchema = z.object({ id: z.string().describe('Id of the note.') });

export const changeThreadBodySchema = z
  .strictObject({
    assigneeId: z
      .string()
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .describe('The person who looks after it. Null: none.'),
    status: status.optional().describe('Whether the thread is done.'),
    labels: z.array(label).max(20).optional().describe('All labels, at most 20.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'must have at least one field');

export const presenceBodySchema = z.strictObject({
  isOpen: z.boolean().describe('True counts for 45 seconds: repeat it while the thread is open.'),
  isTyping: z
    .boolean()
    .optional()
    .describe('The caller is writing a reply. True counts for 6 seconds. Absent: as before.'),
});
export const visitedSchema = z.object({ ok: z.literal(true).describe('It was stored.') });
export const erasedSchema = z.object({
  erased: z.literal(true).describe('The thread was deleted with everything in it.'),
});

export const takeoverSchema = z.object({
  id: z.string().describe('Id of the thread.'),
  state: state.describe('Who answers from now on.'),
  changed: z.boolean().describe('False if it was so already.'),
});

export const resumedSchema = takeoverSchema.extend({
  answering: z
    .boolean()
    .describe('The agent now answers the last message of the contact, which had no answer.'),
});
