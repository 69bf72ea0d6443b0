import { itemsOf, phoneNumberIdOf, webhookSecretOf } from '@parley/channels';
import { objectAt, operations, textAt } from '@parley/contracts';
import { HttpError, forbidden } from '@parley/service';
import { type Verdict, bodySignatureProblem, verifyBodySignature } from '@parley/webhooks';
import { type WebhookEndpoint, type RawDelivery, processingFailure } from '../webhook-endpoint';
import { kapsoBody, kapsoDeliveryId, kapsoEvent, verifyHeader, verifyKapso } from './kapso-event';
import { type KnownNumber, createKnownNumbers } from './known-numbers';

const handled = /^(whatsapp|channel)\.message\.(received|sent|delivered|read|failed|status)$/;
/**
 * Limit for a phone number id from a body that is not verified yet. Kapso's ids have
 * about 16 digits.
 */
const longestId = 100;

/**
 * Receives messages and their statuses, single or in batches. The phone number determines the
 * owner. Deliveries are signed with the deployment's secret, or with the secret of the number's own
 * connection (docs/adr/0031).
 */
export function kapsoMessagesEndpoint(secrets: readonly string[]): WebhookEndpoint {
  const numbers = createKnownNumbers();
  /**
   * The connection whose secret signed a body. It owns the delivery even if the number has moved to
   * another one since.
   */
  const signers = new WeakMap<Buffer, KnownNumber>();

  /**
   * Does the same work without a connection, so that timing does not reveal which
   * numbers are connected.
   */
  function verifyFor(known: KnownNumber | undefined, delivery: RawDelivery): Verdict {
    const own = secrets.map((secret) => webhookSecretOf(secret, known?.connectionId ?? ''));
    const verdict = verifyBodySignature({ ...delivery, secrets: own });
    if (!verdict.ok) return verdict;
    if (known === undefined) return { ok: false, reason: 'secret: the number has no connection' };
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
      // The cached entry may be outdated: the number may belong to another connection by now.
      return verifyFor(await numbers.find(db, phoneNumberId), delivery);
    },
    read(delivery) {
      const body = kapsoBody(delivery);
      if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
      const eventType = kapsoEvent(delivery.headers, body);
      if (eventType === undefined)
        return { ok: false, reason: 'the body is empty, or the event is not named' };
      const isHandled = handled.test(eventType);
      if (isHandled && phoneNumberIdsOf(delivery).length === 0)
        return { ok: false, reason: 'the body has no phone_number_id' };
      const items = isHandled ? itemsOf(body) : [];
      const unreadable = items.filter(
        ({ message }) => textAt(objectAt(message).id) === undefined,
      ).length;
      const problem =
        unreadable === 0
          ? undefined
          : `${unreadable} of ${items.length} items have no message with an id`;
      if (problem !== undefined && unreadable === items.length)
        return { ok: false, reason: problem };
      return {
        ok: true,
        event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled, problem },
      };
    },
    async locate(db, delivery) {
      const phoneNumberId = numberOf(delivery);
      if (phoneNumberId === undefined)
        return { ok: false, reason: 'the body names several numbers' };
      // Does not use the cache: a delivery stored for the number's former owner would not be
      // processed for the new one.
      const known = signers.get(delivery.body) ?? (await numbers.find(db, phoneNumberId));
      if (known === undefined)
        return { ok: false, reason: `phone number ${phoneNumberId} belongs to no connection` };
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

/**
 * The phone number id of a delivery; undefined when it names none or several. A batch is of
 * one conversation.
 */
function numberOf(delivery: RawDelivery): string | undefined {
  const [first, ...others] = phoneNumberIdsOf(delivery);
  return others.length === 0 ? first : undefined;
}
