import { operations } from '@parley/contracts';
import { badRequest } from '@parley/service';
import { headerOf, verifyStandardWebhook } from '@parley/webhooks';
import type { WebhookEndpoint } from '../webhook-endpoint';
import { readEnvelope } from './read-envelope';

const handled = new Set(['order.paid', 'order.refunded']);

/**
 * Receives orders, which change credits. The job finds the owner: an order without one is
 * acknowledged too.
 */
export const polarEndpoint = (secrets: readonly string[]): WebhookEndpoint => ({
  provider: 'polar',
  operation: operations.polarWebhook,
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: false, reason: 'BILLING_WEBHOOK_SECRET is not set' }
      : verifyStandardWebhook({ headers, body, secrets, families: ['webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readEnvelope(body, handled, 'id');
    if (!envelope.ok) return envelope;
    const { eventType, isHandled } = envelope;
    return {
      ok: true,
      event: { deliveryId: headerOf(headers, 'webhook-id')!, eventType, isHandled },
    };
  },
  refusals: {
    signature: badRequest('Invalid signature', undefined, 'invalid_signature'),
    malformed: badRequest('The webhook body could not be understood', undefined, 'malformed_body'),
  },
});
