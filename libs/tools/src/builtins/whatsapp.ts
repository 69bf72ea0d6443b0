import type { Contact, Json, JsonObject } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import type { PermittedCall, ToolDeps } from '../tool';
import type { ToolResult } from '../types';
import { type BuiltIn, defineBuiltIn } from './built-in';
import { callKey } from './call-key';
import { denyOthers } from './deny-others';

type Channels = NonNullable<ToolDeps['channels']>;

const isAvailable = ({ channels }: ToolDeps) => channels !== undefined;
const to = z
  .string()
  .min(1)
  .max(150)
  .describe(
    'Phone number with its country code, in any spelling, or the id of a contact without one.',
  );
const from = z
  .string()
  .max(100)
  .optional()
  .describe('Connected number to send from. Required only when several are connected.');
const replyTo = z
  .string()
  .max(300)
  .optional()
  .describe("The provider's id of the message to quote.");
const text = z.string().min(1).max(4_096);

const answer = 'Returns { id, messageId, status }.';
const window =
  'Works only within 24 hours of the last message of the contact. Later, nothing is sent and status is "window_closed".';

const send = defineBuiltIn({
  name: 'whatsapp.send',
  description: `Sends a WhatsApp text message. ${window} ${answer}`,
  sideEffects: true,
  isAvailable,
  args: z.strictObject({ to, text: text.describe('At most 4096 characters.'), from, replyTo }),
  call: (args, call) =>
    deliver(call, {
      ...args,
      type: 'text',
      content: { body: args.text, preview_url: false },
      text: args.text,
    }),
});

const sendTemplate = defineBuiltIn({
  name: 'whatsapp.sendTemplate',
  description: `Sends an approved WhatsApp template, even when the contact has not written for 24 hours. whatsapp.listTemplates returns the templates. ${answer}`,
  sideEffects: true,
  isAvailable,
  args: z.strictObject({
    to,
    template: z.string().min(1).max(512).describe('Name of the template.'),
    language: z
      .string()
      .min(2)
      .max(20)
      .default('en_US')
      .describe('Language of the template, such as "es" or "en_US".'),
    components: z
      .array(z.record(z.string(), z.json()))
      .max(20)
      .optional()
      .describe('Values of its placeholders, in the form of the WhatsApp Cloud API.'),
    from,
  }),
  call: (args, call) =>
    deliver(
      call,
      {
        ...args,
        type: 'template',
        content: {
          name: args.template,
          language: { code: args.language },
          ...(args.components && { components: args.components as Json[] }),
        },
        text: `[template ${args.template}]`,
      },
      { needsWindow: false },
    ),
});

const option = z.strictObject({
  id: z.string().min(1).max(200).describe('Value that the choice arrives with.'),
  title: z.string().min(1).max(24).describe('What the contact reads.'),
});

const sendInteractive = defineBuiltIn({
  name: 'whatsapp.sendInteractive',
  description: `Sends a WhatsApp message with buttons (at most 3) or with a list to choose from. The choice arrives as a message. Give either "buttons" or "list". ${window} ${answer}`,
  sideEffects: true,
  isAvailable,
  args: z
    .strictObject({
      to,
      text: z.string().min(1).max(1_024).describe('The question.'),
      header: z.string().max(60).optional().describe('Title above the question.'),
      footer: z.string().max(60).optional().describe('Small text below the question.'),
      buttons: z
        .array(
          z.strictObject({
            id: z.string().min(1).max(256).describe('Value that the choice arrives with.'),
            title: z.string().min(1).max(20).describe('Text of the button.'),
          }),
        )
        .min(1)
        .max(3)
        .optional()
        .describe('At most 3 buttons.'),
      list: z
        .strictObject({
          button: z.string().min(1).max(20).describe('Text of the button that opens the list.'),
          sections: z
            .array(
              z.strictObject({
                title: z.string().max(24).optional().describe('Heading of the section.'),
                rows: z
                  .array(
                    option.extend({
                      description: z
                        .string()
                        .max(72)
                        .optional()
                        .describe('Small text below the title.'),
                    }),
                  )
                  .min(1)
                  .max(10)
                  .describe('What can be chosen.'),
              }),
            )
            .min(1)
            .max(10)
            .describe('Groups of rows.'),
        })
        .optional()
        .describe('A list to choose from, instead of buttons.'),
      from,
      replyTo,
    })
    .refine(
      ({ buttons, list }) => (buttons === undefined) !== (list === undefined),
      'give either buttons or list',
    ),
  call(args, call) {
    const { text: body, header, footer, buttons, list } = args;
    const action: JsonObject = buttons
      ? { buttons: buttons.map((reply) => ({ type: 'reply', reply })) }
      : (list as unknown as JsonObject);
    const content: JsonObject = {
      type: buttons ? 'button' : 'list',
      body: { text: body },
      ...(header !== undefined && { header: { type: 'text', text: header } }),
      ...(footer !== undefined && { footer: { text: footer } }),
      action,
    };
    return deliver(call, { ...args, type: 'interactive', content, text: body });
  },
});

const sendMedia = defineBuiltIn({
  name: 'whatsapp.sendMedia',
  description: `Sends a picture, video, audio, document or sticker from a public address over WhatsApp. ${window} ${answer}`,
  sideEffects: true,
  isAvailable,
  args: z.strictObject({
    to,
    mediaType: z
      .enum(['image', 'video', 'audio', 'document', 'sticker'])
      .describe('Kind of the file.'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .describe('Public address of the file.'),
    caption: z.string().max(1_024).optional().describe('Not for audio and stickers.'),
    filename: z.string().max(240).optional().describe('For documents.'),
    from,
    replyTo,
  }),
  call(args, call) {
    const { mediaType: type, url, caption, filename } = args;
    const content: JsonObject = {
      link: url,
      ...(caption !== undefined && type !== 'audio' && type !== 'sticker' && { caption }),
      ...(filename !== undefined && type === 'document' && { filename }),
    };
    return deliver(call, { ...args, type, content, text: caption ?? null, mediaUrl: url });
  },
});

const getConversation = defineBuiltIn({
  name: 'whatsapp.getConversation',
  description:
    'Returns { contact, windowOpen, messages } of a WhatsApp contact, oldest first. A message has id, messageId, direction ("inbound" or "outbound"), type, text, mediaUrl, status, error, sentAt and createdAt (Unix milliseconds). windowOpen reports whether free text may be sent now.',
  sideEffects: false,
  isAvailable,
  args: z.strictObject({
    contact: to,
    limit: z.int().min(1).max(100).default(20).describe('Maximum number of messages, at most 100.'),
  }),
  async call({ contact: name, limit }, call) {
    const { deps, scope } = call;
    const channels = deps.channels!;
    const denial = await denyOthers(call, isNamed(call, name));
    if (denial !== null) return denial;
    const [{ contact, messages }, windowOpen] = await Promise.all([
      channels.conversation(scope, name, limit),
      channels.isWindowOpen(scope, name),
    ]);
    return { ok: true, result: { contact, windowOpen, messages: messages as unknown as Json } };
  },
});

const getStatus = defineBuiltIn({
  name: 'whatsapp.getStatus',
  description:
    'Returns a WhatsApp message with its status: queued, sending, sent, delivered, read, failed, or unknown when the message may or may not have been sent.',
  sideEffects: false,
  isAvailable,
  args: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(300)
      .describe('The id or messageId returned when the message was sent.'),
  }),
  async call({ id }, call) {
    const { deps, scope, context } = call;
    const denial = await denyOthers(call, () => true);
    if (denial !== null) return denial;
    // A message of another contact is not found.
    const mayReachAnyone = call.permissions.decide('reach', call.name).allowed;
    const message = await deps.channels!.message(
      scope,
      id,
      mayReachAnyone ? undefined : context.contact!.id,
    );
    if (message === null) return failure('not_found', 'Message not found');
    return { ok: true, result: message as unknown as Json };
  },
});

const listTemplates = defineBuiltIn({
  name: 'whatsapp.listTemplates',
  description:
    'Returns { templates } for whatsapp.sendTemplate. Each has name, language, status, category and components.',
  sideEffects: false,
  isAvailable,
  args: z.strictObject({ from }),
  async call({ from: sender }, { deps, scope }) {
    const listed = await deps.channels!.templates(scope, sender);
    if (!listed.ok)
      return failure('execution_error', `whatsapp.listTemplates failed: ${listed.message}`);
    const templates = listed.value.map(({ name, language, status, category, components }) => ({
      name: name ?? null,
      language: language ?? null,
      status: status ?? null,
      category: category ?? null,
      components: components ?? [],
    }));
    return { ok: true, result: { templates } };
  },
});

/** Whether a number or scoped id names the contact of the conversation. */
const isNamed =
  ({ deps, scope }: PermittedCall, name: string) =>
  async ({ id }: Contact): Promise<boolean> =>
    (await deps.channels!.contactOf(scope, name)) === id;

async function deliver(
  call: PermittedCall,
  message: Omit<Parameters<Channels['sendWhatsapp']>[1], 'needsWindow' | 'key' | 'threadId'>,
  { needsWindow = true } = {},
): Promise<ToolResult> {
  const denial = await denyOthers(call, isNamed(call, message.to));
  if (denial !== null) return denial;
  const sent = await call.deps.channels!.sendWhatsapp(call.scope, {
    ...message,
    needsWindow,
    threadId: call.context.threadId,
    key: callKey(call, message),
  });
  if (sent.ok) {
    const { id, messageId, status, error } = sent.message;
    if (status === 'failed')
      return failure('execution_error', `The message was not sent: ${error ?? 'no reason given'}`);
    return { ok: true, result: { id, messageId, status } };
  }
  if (sent.reason === 'window_closed') {
    const hint =
      'The contact has not written within the last 24 hours. Only an approved template can be sent: use whatsapp.listTemplates and whatsapp.sendTemplate.';
    return { ok: true, result: { id: null, messageId: null, status: 'window_closed', hint } };
  }
  const isArgument = sent.reason === 'invalid_recipient';
  return failure(isArgument ? 'invalid_arguments' : 'execution_error', sent.message);
}

export const whatsappTools: readonly BuiltIn[] = [
  send,
  sendTemplate,
  sendInteractive,
  sendMedia,
  getConversation,
  getStatus,
  listTemplates,
];
