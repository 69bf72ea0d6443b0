import { z } from 'zod';

const name = z.string().trim().min(1).max(200).describe('The name for people, also in prompts.');
const timezone = z
  .string()
  .min(1)
  .max(64)
  .describe('IANA time zone of dates in prompts and of schedules, such as `America/Santiago`.');

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:30');
const minutes = (least: number) => z.number().int().min(least).max(10_080);

const conversationFields = {
  openingHours: z
    .array(
      z.strictObject({
        days: z
          .array(z.enum(days))
          .min(1)
          .max(7)
          .describe('The days, in the time zone of the organization.'),
        from: timeOfDay.describe('When people begin to answer.'),
        to: timeOfDay.describe('When they end; on the next day if it is not after `from`.'),
      }),
    )
    .max(20)
    .describe('When people answer contacts that ask for one. Empty: always.'),
  closedMessage: z
    .string()
    .trim()
    .min(1)
    .max(4_096)
    .nullable()
    .describe(
      'What a contact gets who asks for a person outside of opening hours. Null: what the agent says.',
    ),
  takeBackAfterMinutes: minutes(1)
    .nullable()
    .describe(
      'After this time without a person the agent answers a waiting thread again. Null: never.',
    ),
  notifyAfterMinutes: minutes(0)
    .nullable()
    .describe(
      'After this time without a person an e-mail about a waiting thread is sent. Null: none is sent.',
    ),
  notifyEmails: z
    .array(z.email().max(320))
    .max(20)
    .describe('Who gets these e-mails. Empty: all members.'),
  phonePauseMinutes: minutes(1).describe(
    "The time for which a reply from the phone's own app keeps the agent from answering.",
  ),
};

/** How conversations get from the agent to people and back. */
export const conversationSettingsSchema = z.object({
  openingHours: conversationFields.openingHours.default([]),
  closedMessage: conversationFields.closedMessage.default(null),
  takeBackAfterMinutes: conversationFields.takeBackAfterMinutes.default(120),
  notifyAfterMinutes: conversationFields.notifyAfterMinutes.default(5),
  notifyEmails: conversationFields.notifyEmails.default([]),
  phonePauseMinutes: conversationFields.phonePauseMinutes.default(60),
});
export type ConversationSettings = z.output<typeof conversationSettingsSchema>;
export const weekdays = days;

export const organizationSchema = z.object({
  id: z.string().describe('Id of the organization.'),
  slug: z.string().describe('The name in commands. It does not change.'),
  externalId: z
    .string()
    .nullable()
    .describe('Its id at the identity provider. Null when it was created here.'),
  name,
  timezone,
  conversations: z
    .object(conversationFields)
    .describe('How conversations get from the agent to people and back.'),
});

export const changeOrganizationBodySchema = z
  .strictObject({
    name: name.optional(),
    timezone: timezone.optional(),
    conversations: z
      .strictObject(conversationFields)
      .partial()
      .optional()
      .describe('The settings of conversations to change. The others stay.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'must have at least one field');
