import { z } from 'zod';
import { jsonObjectSchema } from '../../json';
import { idParams, listOf, pageQuery, time, timeInQuery, truncated } from './list';

const slug = z.string().min(1).max(200);
const providerId = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must have at most 64 letters, digits, _, . and -');
const filter = (description: string) => z.string().max(200).optional().describe(description);

const mediaSchema = z.object({
  status: z
    .enum(['pending', 'fetching', 'ready', 'failed'])
    .describe(
      '`ready`: the file can be read. `failed`: it could not be fetched from the provider.',
    ),
  filename: z.string().nullable().describe("The file's name on the sender's device."),
  contentType: z.string().nullable().describe('The type that the bytes of the file have.'),
  size: z.number().int().nullable().describe('Size in bytes.'),
  error: z.string().nullable().describe('Why the file was not fetched.'),
});

export const messageSchema = z.object({
  id: z.string().describe('Id of the message.'),
  messageId: z
    .string()
    .nullable()
    .describe("The provider's id. Null until the provider accepts the message."),
  direction: z.enum(['inbound', 'outbound']).describe('`inbound`: sent by the contact.'),
  contact: z.string().describe('Id of the contact.'),
  threadId: z.string().nullable().describe('Id of the thread that the message belongs to.'),
  type: z.string().describe('Type at the provider, such as `text`, `image` or `template`.'),
  text: z
    .string()
    .nullable()
    .describe('The text that people read; in a list at most its first 65,536 characters.'),
  isTruncated: truncated('`GET /v1/messages/:id` returns all of it.'),
  origin: z
    .enum(['phone'])
    .nullable()
    .describe('`phone`: a person sent it with the app of the phone itself.'),
  location: z
    .object({
      latitude: z.number().describe('Degrees, from -90 to 90.'),
      longitude: z.number().describe('Degrees, from -180 to 180.'),
      name: z.string().nullable().describe('The name of the place.'),
      address: z.string().nullable().describe('Its address.'),
    })
    .nullable()
    .describe('The place of a message of type `location`.'),
  reaction: z
    .object({
      emoji: z.string().describe('Empty: the contact removed the reaction.'),
      messageId: z
        .string()
        .nullable()
        .describe("The provider's id of the message that the contact reacted to."),
    })
    .nullable()
    .describe('The content of a message of type `reaction`.'),
  contacts: z
    .array(
      z.object({
        name: z.string().nullable().describe('The name of the contact.'),
        phoneNumbers: z.array(z.string()).describe('Its phone numbers, as they were shared.'),
      }),
    )
    .nullable()
    .describe('What a message of type `contacts` shares.'),
  status: z
    .string()
    .describe(
      'Outbound: `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` (it may have been sent) or `held`. Inbound: `received`, `answering`, `answered`, `stored`, `failed` or `held`.',
    ),
  attempts: z.number().int().describe('Attempts to send or to answer it.'),
  error: z.string().nullable().describe('Why it failed, or the reason of the last attempt.'),
  media: mediaSchema.nullable().describe('The file of the message.'),
  createdAt: time('When the message was stored.'),
});

export const messageListSchema = listOf(messageSchema);
export const messageParamsSchema = idParams;
export const listMessagesQuerySchema = z.object({
  ...pageQuery,
  status: filter('Only messages with this status.'),
  direction: z
    .enum(['inbound', 'outbound'])
    .optional()
    .describe('Only messages in this direction.'),
  contact: filter('Only messages of this contact: a phone number in any spelling, or an id.'),
  threadId: filter('Only messages of this thread.'),
  since: timeInQuery('Only messages from this time on.'),
});

export const retryBodySchema = z.strictObject({
  anyway: z
    .boolean()
    .default(false)
    .describe('Sends again what the recipient may already have received (status `unknown`).'),
});
export const retriedSchema = z.object({
  id: z
    .string()
    .describe('Id of what is sent: the resource itself, or the message that replaces it.'),
});

export const emailSchema = z.object({
  id: z.string().describe('Id of the e-mail.'),
  providerId: z.string().nullable().describe("The provider's id."),
  to: z.array(z.string()).describe('Recipients.'),
  subject: z.string().describe('The subject of the e-mail.'),
  status: z
    .string()
    .describe(
      '`queued`, `sending`, `sent`, `delivered`, `bounced`, `complained`, `failed`, `unknown` (it may have been sent) or `held`.',
    ),
  attempts: z.number().int().describe('Attempts to send it.'),
  error: z.string().nullable().describe('Why it failed, or the reason of the last attempt.'),
  createdAt: time('When the e-mail was stored.'),
});
export const emailListSchema = listOf(emailSchema);
export const listEmailsQuerySchema = z.object({
  ...pageQuery,
  status: filter('Only e-mails with this status.'),
  since: timeInQuery('Only e-mails from this time on.'),
});

export const contactSchema = z.object({
  id: z
    .string()
    .describe('Id of the contact: the digits of its first known phone number, else its scoped id.'),
  phoneNumber: z.string().nullable().describe('Latest known phone number, in digits.'),
  name: z.string().nullable().describe('The name that the contact has on the channel.'),
  aliases: z.array(z.string()).describe('Phone numbers and scoped ids of the contact.'),
  thread: z
    .object({
      id: z.string().describe('Id of the thread.'),
      externalId: z.string().describe('Its external id.'),
    })
    .nullable()
    .describe("The contact's thread. Null before its first message is answered or stored in one."),
  messages: z.array(messageSchema).describe('The last 20 messages, newest first.'),
});

export const connectionSchema = z.object({
  id: z.string().describe('Id of the connection.'),
  channel: z.enum(['whatsapp']).describe('Kind of the channel.'),
  status: z
    .enum(['pending', 'connected'])
    .describe('`pending` until the number is connected at the provider.'),
  phoneNumber: z.string().nullable().describe('The number, in digits.'),
  phoneNumberId: z.string().nullable().describe("The provider's id of the number."),
  customerId: z.string().nullable().describe("The provider's id of the customer."),
  agent: z.string().nullable().describe('Slug of the agent that answers.'),
  router: z.string().nullable().describe('Slug of the router that chooses the agent.'),
  contactType: z
    .string()
    .nullable()
    .describe('Entity type whose entities are matched with contacts by phone number.'),
  webhookProblem: z
    .boolean()
    .describe(
      'Whether the last registrations of the webhook failed, so that messages may not arrive.',
    ),
});
export const connectionListSchema = z.object({
  data: z.array(connectionSchema).describe('All connections of the environment, oldest first.'),
});
export const connectChannelBodySchema = z
  .strictObject({
    agent: slug.optional().describe('Slug of the agent that answers.'),
    router: slug.optional().describe('Slug of the router that chooses the agent.'),
    contactType: slug
      .nullable()
      .optional()
      .describe('Entity type whose entities are matched with contacts by phone number.'),
    phoneNumberId: providerId
      .optional()
      .describe(
        "The provider's id of a number that is already connected there. Without it a setup link is made.",
      ),
    customerId: providerId
      .optional()
      .describe(
        "The provider's id of the customer that the setup link is for. Without it a customer is created.",
      ),
    isSimulated: z
      .boolean()
      .default(false)
      .describe(
        'Connects a number that does not exist at the provider, for sample deliveries. In development only.',
      ),
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .default('Parley')
      .describe('Name of the new customer at the provider.'),
  })
  .refine(
    ({ agent, router }) => (agent === undefined) !== (router === undefined),
    'give either agent or router',
  )
  .refine(
    ({ phoneNumberId, customerId, isSimulated }) =>
      Number(phoneNumberId !== undefined) +
        Number(customerId !== undefined) +
        Number(isSimulated) <=
      1,
    'give at most one of phoneNumberId, customerId and isSimulated',
  );

export const connectedChannelSchema = z.object({
  channel: connectionSchema.describe('The channel.'),
  setupLink: z
    .string()
    .nullable()
    .describe('Address at which a person connects a number. Null when the number is connected.'),
});

export const updateConnectionBodySchema = z
  .strictObject({
    agent: slug.optional().describe('Slug of the agent that answers from now on.'),
    router: slug.optional().describe('Slug of the router that chooses the agent from now on.'),
    contactType: slug.nullable().optional().describe('Entity type of the contacts. Null for none.'),
  })
  .refine(
    ({ agent, router }) => agent === undefined || router === undefined,
    'give either agent or router',
  );

export const templateListSchema = z.object({
  data: z
    .array(jsonObjectSchema)
    .describe(
      'Templates, as the provider describes them: `name`, `language`, `status`, `components`.',
    ),
});
