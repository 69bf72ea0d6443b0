import { objectAt, textAt } from '@parley/contracts';
import { badRequest } from '@parley/service';
import { headerOf, readJsonObject, verifyStandardWebhook } from '@parley/webhooks';
import { type Door, eventNameAt } from '../door';

const handled = new Set(['email.sent', 'email.delivered', 'email.bounced', 'email.complained']);

/** What became of e-mails. The record is found by the job, as the event may come before the answer to its sending. */
export const resendDoor = (secrets: readonly string[]): Door => ({
  provider: 'resend',
  path: '/webhook/resend',
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: false, reason: 'EMAIL_WEBHOOK_SECRET is not set' }
      : verifyStandardWebhook({ headers, body, secrets, families: ['svix', 'webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readJsonObject(body);
    if (envelope === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = eventNameAt(envelope.type);
    if (eventType === undefined) return { ok: false, reason: 'the body has no type' };
    const isHandled = handled.has(eventType);
    if (isHandled && textAt(objectAt(envelope.data).email_id) === undefined)
      return { ok: false, reason: 'the body has no data.email_id' };
    const deliveryId = headerOf(headers, 'svix-id') ?? headerOf(headers, 'webhook-id')!;
    return { ok: true, event: { deliveryId, eventType, isHandled } };
  },
  refusals: {
    signature: badRequest('Invalid signature', undefined, 'invalid_signature'),
    malformed: badRequest('The webhook body could not be understood', undefined, 'malformed_body'),
  },
});
