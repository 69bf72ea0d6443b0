import { operations } from '@parley/contracts';
import { badRequest } from '@parley/service';
import { headerOf, verifyStandardWebhook } from '@parley/webhooks';
import type { WebhookEndpoint } from '../webhook-endpoint';
import { readEnvelope } from './read-envelope';

const handled = new Set(['email.sent', 'email.delivered', 'email.bounced', 'email.complained']);

/**
 * Receives statuses of e-mails. The job finds the e-mail: a status may arrive before the
 * reply to its sending.
 */
export const resendEndpoint = (secrets: readonly string[]): WebhookEndpoint => ({
  provider: 'resend',
  operation: operations.resendWebhook,
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: false, reason: 'EMAIL_WEBHOOK_SECRET is not set' }
      : verifyStandardWebhook({ headers, body, secrets, families: ['svix', 'webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readEnvelope(body, handled, 'email_id');
    if (!envelope.ok) return envelope;
    const { eventType, isHandled } = envelope;
    const deliveryId = headerOf(headers, 'svix-id') ?? headerOf(headers, 'webhook-id')!;
    return { ok: true, event: { deliveryId, eventType, isHandled } };
  },
  refusals: {
    signature: badRequest('Invalid signature', undefined, 'invalid_signature'),
    malformed: badRequest('The webhook body could not be understood', undefined, 'malformed_body'),
  },
});
