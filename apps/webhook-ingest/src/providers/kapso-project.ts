import { readProjectNumber } from '@parley/channels';
import { operations } from '@parley/contracts';
import { forbidden } from '@parley/service';
import { type WebhookEndpoint, processingFailure } from '../webhook-endpoint';
import { kapsoBody, kapsoDeliveryId, kapsoEvent, verifyKapso } from './kapso-event';

/** `channel.` is the provider-neutral prefix of the API reference. */
const handled = /^(whatsapp|channel)\.phone_number\.(created|deleted)$/;

/**
 * Receives events about numbers that were connected or disconnected. The job finds the connection
 * and asks Kapso for the number. Only the operator's project sends these: the secret of a
 * connection, which its organization knows, is refused.
 */
export const kapsoProjectEndpoint = (secrets: readonly string[]): WebhookEndpoint => ({
  provider: 'kapso',
  operation: operations.kapsoProjectWebhook,
  verify: (delivery) => verifyKapso(delivery, secrets),
  read(delivery) {
    const body = kapsoBody(delivery);
    if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = kapsoEvent(delivery.headers, body);
    if (eventType === undefined)
      return { ok: false, reason: 'the body is empty, or the event is not named' };
    const isHandled = handled.test(eventType);
    if (isHandled && readProjectNumber(body) === null)
      return { ok: false, reason: 'the body does not describe a phone number of the project' };
    return {
      ok: true,
      event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled },
    };
  },
  refusals: {
    signature: forbidden('Invalid signature', 'invalid_signature'),
    malformed: processingFailure(),
    unavailable: processingFailure(),
  },
});
