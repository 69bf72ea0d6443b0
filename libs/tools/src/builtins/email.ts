import type { Contact, JsonObject } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import { type BuiltIn, defineBuiltIn } from './built-in';
import { callKey } from './call-key';
import { denyOthers } from './deny-others';

const plain = '[^\\s<>@,;:"]+@[^\\s<>@,;:"]+';
/** One address: a name with a comma outside quotes would begin another. */
const address = z
  .string()
  .max(320)
  .regex(
    new RegExp(`^(?:(?:[^<>@,;:"\\r\\n]*|[ \\t]*"[^"\\\\\\r\\n]*"[ \\t]*)<${plain}>|${plain})$`),
    'must be an e-mail address',
  );
const addresses = z.union([address, z.array(address).min(1).max(50)]);
/** The address itself, without the name before it. Fields of entities may hold any text. */
function bare(written: string): string {
  const open = written.lastIndexOf('<');
  const address = open !== -1 && written.endsWith('>') ? written.slice(open + 1, -1) : written;
  return address.trim().toLowerCase();
}

/** The fields of a contact's entity that may hold an e-mail address. */
const emailFields = ['email', 'emailAddress', 'email_address', 'mail'];

/** The e-mail addresses of the contact's entity. */
async function addressesOf(
  { deps, scope, actor }: PermittedCall,
  { entityType }: Contact,
): Promise<string[]> {
  const id = 'entityId' in actor ? actor.entityId : undefined;
  if (id === undefined || entityType === null) return [];
  const found = await deps.entities.get(scope, { type: entityType, id });
  if (!found.ok) return [];
  const { data } = found.entity.value;
  return emailFields
    .map((field) => data[field])
    .filter((value) => typeof value === 'string')
    .map(bare);
}

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
      subject: z.string().min(1).max(998).describe('Subject of the e-mail.'),
      text: z.string().max(500_000).optional().describe('The e-mail as plain text.'),
      html: z.string().max(500_000).optional().describe('The e-mail as HTML.'),
      from: address
        .optional()
        .describe('Only in triggers and run-tool. The sender is the configured one.'),
      cc: addresses.optional().describe('Recipients of a copy, whom all recipients see.'),
      bcc: addresses.optional().describe('Recipients of a copy, whom the others do not see.'),
      replyTo: addresses.optional().describe('Where replies go. Default: the sender.'),
    })
    .refine(
      ({ text, html }) => text !== undefined || html !== undefined,
      'text or html is required',
    ),
  async call({ to, subject, text, html, from, cc, bcc, replyTo }, call) {
    // The arguments of a trigger and of run-tool are written by a developer, those of an agent's
    // call by a model.
    const isDefined = call.actor.type === 'system' && call.context.agentSlug === undefined;
    if (from !== undefined && !isDefined)
      return failure(
        'permission_denied',
        'Permission denied: the sender of e-mails comes from the configuration',
      );
    const recipients = [to, cc ?? [], bcc ?? [], replyTo ?? []].flat();
    const denial = await denyOthers(call, async (contact) => {
      const own = await addressesOf(call, contact);
      return recipients.every((recipient) => own.includes(bare(recipient)));
    });
    if (denial !== null) return denial;
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
    return {
      ok: true,
      result: { id, emailId: providerId, status: status === 'sending' ? 'queued' : status },
    };
  },
});

export const emailTools: readonly BuiltIn[] = [send];
