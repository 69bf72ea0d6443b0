import { itemsOf, phoneNumberIdOf, webhookSecretOf } from '@parley/channels';
import { operations } from '@parley/contracts';
import { HttpError, forbidden } from '@parley/service';
import { type Verdict, bodySignatureProblem, verifyBodySignature } from '@parley/webhooks';
import { type Door, type RawDelivery, processingFailure } from '../door';
import { kapsoBody, kapsoDeliveryId, kapsoEvent, verifyHeader, verifyKapso } from './kapso-event';
import { type KnownNumber, createKnownNumbers } from './known-numbers';

const handled = /^(whatsapp|channel)\.message\.(received|sent|delivered|read|failed|status)$/;
/** A phone number id that is claimed before anything is proven; the provider's have about 16 digits. */
const longestId = 100;

/**
 * Messages and their statuses, single or in batches; the number that they came to says whose they are. They are signed with
 * the deployment's secret, or with that of the number's own connection (docs/adr/0031).
 */
export function kapsoMessagesDoor(secrets: readonly string[]): Door {
  const numbers = createKnownNumbers();
  /** Whose secret signed a body. It belongs to that organization, also when its number has just moved to another one. */
  const signers = new WeakMap<Buffer, KnownNumber>();

  /** Does the same work when there is no connection, so that timing reveals nothing. */
  function verifyFor(known: KnownNumber | undefined, delivery: RawDelivery): Verdict {
    const own = secrets.map((secret) => webhookSecretOf(secret, known?.connectionId ?? ''));
    const verdict = verifyBodySignature({ ...delivery, secrets: own });
    if (!verdict.ok) return verdict;
    if (known === undefined) return { ok: false, reason: 'secret: of no connection' };
    signers.set(delivery.body, known);
    return verdict;
  }

  return {
    provider: 'kapso',
    operation: operations.kapsoMessagesWebhook,
    verify: (delivery) => verifyKapso(delivery, secrets),
    async verifyOwner(db, delivery, refused) {
      if (secrets.length === 0 || bodySignatureProblem(delivery.headers) !== null) return refused;
      const header = verifyHeader(delivery);
      if (!header.ok) return header;
      const phoneNumberId = numberOf(delivery);
      if (phoneNumberId === undefined || phoneNumberId.length > longestId) return refused;
      const kept = verifyFor(numbers.kept(phoneNumberId), delivery);
      if (kept.ok) return kept;
      // Looked up before it is refused: the number may belong to another connection by now.
      return verifyFor(await numbers.find(db, phoneNumberId), delivery);
    },
    read(delivery) {
      const body = kapsoBody(delivery);
      if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
      const eventType = kapsoEvent(delivery.headers, body);
      if (eventType === undefined) return { ok: false, reason: 'the body is empty, or the event is not named' };
      const isHandled = handled.test(eventType);
      if (isHandled && phoneNumberIdsOf(delivery).length === 0)
        return { ok: false, reason: 'the body has no phone_number_id' };
      return { ok: true, event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled } };
    },
    async locate(db, delivery) {
      const phoneNumberId = numberOf(delivery);
      if (phoneNumberId === undefined) return { ok: false, reason: 'the body names several numbers' };
      // Not from the cache: a delivery that was stored for the number's former owner is not processed for the new one.
      const known = signers.get(delivery.body) ?? (await numbers.find(db, phoneNumberId));
      if (known === undefined) return { ok: false, reason: `phone number ${phoneNumberId} belongs to no connection` };
      const { tenant, environment } = known;
      return { ok: true, owner: { tenant, environment } };
    },
    refusals: {
      signature: forbidden('Invalid signature', 'invalid_signature'),
      malformed: processingFailure(),
      unlocated: new HttpError(500, 'phone_number_not_found', 'Phone number not found'),
      unavailable: processingFailure(),
    },
  };
}

function phoneNumberIdsOf(delivery: RawDelivery): string[] {
  const ids = itemsOf(kapsoBody(delivery) ?? {}).map(phoneNumberIdOf);
  return [...new Set(ids)].filter((id) => id !== undefined);
}

/** One batch is one conversation, so one number; undefined when it is not. */
function numberOf(delivery: RawDelivery): string | undefined {
  const [first, ...others] = phoneNumberIdsOf(delivery);
  return others.length === 0 ? first : undefined;
}
