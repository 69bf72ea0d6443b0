import { objectAt, operations, textAt } from '@parley/contracts';
import { readJsonObject } from '@parley/webhooks';
import { forbidden } from '@parley/service';
import { type Door, processingFailure } from '../door';
import { kapsoDeliveryId, kapsoEvent, verifyKapso } from './kapso-event';

/** Under the interface's neutral prefix too. */
const handled = /^(whatsapp|channel)\.phone_number\.(created|deleted)$/;

/** Numbers that were connected or taken away. The connection is found by the job, which also asks the intermediary. */
export const kapsoProjectDoor = (secrets: readonly string[]): Door => ({
  provider: 'kapso',
  operation: operations.kapsoProjectWebhook,
  verify: (delivery) => verifyKapso(delivery, secrets),
  read(delivery) {
    const body = readJsonObject(delivery.body);
    if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = kapsoEvent(delivery.headers, body);
    if (eventType === undefined) return { ok: false, reason: 'the body is empty, or the event is not named' };
    const isHandled = handled.test(eventType);
    const data = textAt(body.phone_number_id) ? body : objectAt(body.data);
    if (isHandled && textAt(data.phone_number_id) === undefined)
      return { ok: false, reason: 'the body has no phone_number_id' };
    return { ok: true, event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled } };
  },
  refusals: {
    signature: forbidden('Invalid signature', 'invalid_signature'),
    malformed: processingFailure(),
    unavailable: processingFailure(),
  },
});
