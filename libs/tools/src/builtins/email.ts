import type { JsonObject } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';
import { callKey } from './call-key';

const address = z
  .string()
  .max(320)
  .regex(/^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, 'must be an e-mail address');
const addresses = z.union([address, z.array(address).min(1).max(50)]);
const listOf = (value: string | string[]): string[] => (Array.isArray(value) ? value : [value]);

const send = defineBuiltIn({
  name: 'email.send',
  description:
    'Sends an e-mail with "text", "html" or both. Returns { id, emailId, status }. status is "sent", or "queued" when sending is retried later.',
  sideEffects: true,
  isAvailable: ({ channels }) => channels !== undefined,
  args: z
    .strictObject({
      to: addresses.describe('One address, or a list of at most 50.'),
      subject: z.string().min(1).max(998),
      text: z.string().max(500_000).optional(),
      html: z.string().max(500_000).optional(),
      from: address.optional().describe('Sender. Default: the configured one.'),
      cc: addresses.optional(),
      bcc: addresses.optional(),
      replyTo: addresses.optional(),
    })
    .refine(({ text, html }) => text !== undefined || html !== undefined, 'text or html is required'),
  async call({ to, subject, text, html, from, cc, bcc, replyTo }, call) {
    const content: JsonObject = {
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
      ...(cc !== undefined && { cc: listOf(cc) }),
      ...(bcc !== undefined && { bcc: listOf(bcc) }),
      ...(replyTo !== undefined && { reply_to: listOf(replyTo) }),
    };
    const sent = await call.deps.channels!.sendEmail(call.scope, {
      from,
      to: listOf(to),
      subject,
      content,
      key: callKey(call, { to, subject, content }),
    });
    if (!sent.ok) return failure('execution_error', sent.message);
    const { id, providerId, status, error } = sent.email;
    if (status === 'failed')
      return failure('execution_error', `The e-mail was not sent: ${error ?? 'no reason given'}`);
    return { ok: true, result: { id, emailId: providerId, status: status === 'sending' ? 'queued' : status } };
  },
});

export const emailTools: readonly BuiltIn[] = [send];
