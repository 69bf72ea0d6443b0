import { objectAt, textAt } from '@parley/contracts';
import { badRequest } from '@parley/service';
import { headerOf, readJsonObject, verifyStandardWebhook } from '@parley/webhooks';
import { type Door, eventNameAt } from '../door';

const handled = new Set(['order.paid', 'order.refunded']);

/** Credits. Whose they are is found by the job: an order that nobody can be found for is acknowledged all the same. */
export const polarDoor = (secrets: readonly string[]): Door => ({
  provider: 'polar',
  path: '/webhook/polar',
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: false, reason: 'BILLING_WEBHOOK_SECRET is not set' }
      : verifyStandardWebhook({ headers, body, secrets, families: ['webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readJsonObject(body);
    if (envelope === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = eventNameAt(envelope.type);
    if (eventType === undefined) return { ok: false, reason: 'the body has no type' };
    const isHandled = handled.has(eventType);
    if (isHandled && textAt(objectAt(envelope.data).id) === undefined)
      return { ok: false, reason: 'the body has no data.id' };
    return { ok: true, event: { deliveryId: headerOf(headers, 'webhook-id')!, eventType, isHandled } };
  },
  refusals: {
    signature: badRequest('Invalid signature', undefined, 'invalid_signature'),
    malformed: badRequest('The webhook body could not be understood', undefined, 'malformed_body'),
  },
});
