import { readProjectNumber } from '@parley/channels';
import { operations } from '@parley/contracts';
import { forbidden } from '@parley/service';
import { type Door, processingFailure } from '../door';
import { kapsoBody, kapsoDeliveryId, kapsoEvent, verifyKapso } from './kapso-event';

/** Under the interface's neutral prefix too. */
const handled = /^(whatsapp|channel)\.phone_number\.(created|deleted)$/;

/**
 * Numbers that were connected or taken away. The connection is found by the job, which also asks the intermediary. Only the
 * operator's project sends them: the secret of a connection, which an organization knows, signs nothing here.
 */
export const kapsoProjectDoor = (secrets: readonly string[]): Door => ({
  provider: 'kapso',
  operation: operations.kapsoProjectWebhook,
  verify: (delivery) => verifyKapso(delivery, secrets),
  read(delivery) {
    const body = kapsoBody(delivery);
    if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = kapsoEvent(delivery.headers, body);
    if (eventType === undefined) return { ok: false, reason: 'the body is empty, or the event is not named' };
    const isHandled = handled.test(eventType);
    if (isHandled && readProjectNumber(body) === null)
      return { ok: false, reason: 'the body is not one of the project webhook about a phone number' };
    return { ok: true, event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled } };
  },
  refusals: {
    signature: forbidden('Invalid signature', 'invalid_signature'),
    malformed: processingFailure(),
    unavailable: processingFailure(),
  },
});
