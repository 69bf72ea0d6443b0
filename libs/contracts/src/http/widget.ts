import { z } from 'zod';
import { routerChatBodySchema } from './chat';
import { streamThreadQuerySchema } from './manage/executions';
import { listOf, pageQuery, time } from './manage/list';

export const visitorQuerySchema = z.object({
  key: z
    .string()
    .max(100)
    .describe(
      'The publishable key. Sent in the URL, because a preflight request has no body or token.',
    ),
});

export const createVisitorSessionBodySchema = z.strictObject({
  visitorId: z
    .string()
    .max(100)
    .optional()
    .describe('The id that an anonymous visitor got before. Another text is replaced.'),
  identity: z
    .string()
    .max(8_192)
    .optional()
    .describe(
      'A JWT (HS256) with `sub` and an `iat` of the last 5 minutes, which your server signs with the identity secret.',
    ),
});

export const visitorSessionSchema = z.object({
  token: z.string().describe('Send it as `Authorization: Bearer …`.'),
  expiresAt: z
    .number()
    .int()
    .describe('When the token expires: 30 minutes later. Unix milliseconds.'),
  visitorId: z
    .string()
    .nullable()
    .describe('The id of an anonymous visitor, which only the browser keeps.'),
  threadKey: z
    .string()
    .describe(
      'Names the thread of the visitor. Another value than before: the session belongs to another visitor.',
    ),
});

/** Enough for a message of a person; the time of the agent is the organization's. */
export const sendVisitorMessageBodySchema = z.strictObject({
  message: routerChatBodySchema.shape.message.max(8_000),
});

export const sentVisitorMessageSchema = z.object({
  executionId: z.string().describe('Id of the turn. The stream of its answer begins with it.'),
  status: z
    .enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'stalled', 'stored'])
    .describe('`stored`: a person answers the thread, so no agent does.'),
});

export const listVisitorMessagesQuerySchema = visitorQuerySchema.extend(pageQuery);

export const visitorMessageListSchema = listOf(
  z.object({
    id: z.string().describe('Id of the message.'),
    executionId: z.string().describe('Id of the turn that the message belongs to.'),
    from: z
      .enum(['visitor', 'agent', 'person'])
      .describe('Who wrote it. `person`: someone of the organization.'),
    text: z.string().describe('The text of the message.'),
    createdAt: time('When it was written.'),
  }),
);

export const visitorStreamQuerySchema = visitorQuerySchema.extend(streamThreadQuerySchema.shape);
