import { itemsOf, readProjectNumber } from '@parley/channels';
import { type JsonObject, objectAt, textAt } from '@parley/contracts';
import {
  type DeliveryHeaders,
  type Verdict,
  headerOf,
  readJsonObject,
  verifyBodySignature,
} from '@parley/webhooks';
import { type RawDelivery, eventNameAt } from '../webhook-endpoint';
import { digestOf } from '../receive-delivery';

export function verifyKapso(delivery: RawDelivery, secrets: readonly string[]): Verdict {
  if (secrets.length === 0) return { ok: false, reason: 'MESSAGING_WEBHOOK_SECRET is not set' };
  const verdict = verifyBodySignature({ ...delivery, secrets });
  return verdict.ok ? verifyHeader(delivery) : verdict;
}

const bodies = new WeakMap<Buffer, JsonObject | null>();

/** The body as JSON, read once for each delivery. */
export function kapsoBody({ body }: RawDelivery): JsonObject | null {
  if (!bodies.has(body)) bodies.set(body, readJsonObject(body));
  return bodies.get(body)!;
}

const headerEvent = (headers: DeliveryHeaders) => eventNameAt(headerOf(headers, 'x-webhook-event'));
const bodyEvent = (body: JsonObject) => eventNameAt(body.event) ?? eventNameAt(body.type);

/**
 * The name of the event: `event` or `type` of the body, else the header, which is all that most
 * deliveries of Kapso have (docs/reference/providers.md#kapso-webhooks). Undefined for an empty
 * body or a name that is not a text.
 */
export function kapsoEvent(headers: DeliveryHeaders, body: JsonObject): string | undefined {
  const names = [body.event, body.type].filter((name) => name !== undefined && name !== null);
  if (Object.keys(body).length === 0 || names.some((name) => typeof name !== 'string'))
    return undefined;
  return bodyEvent(body) ?? headerEvent(headers);
}

/**
 * Checks the event header, which is not part of the signature: a captured body must not be accepted
 * under another event. The header must equal the event of the body. If the body names none, it must
 * have the shape of the header's event.
 */
export function verifyHeader(delivery: RawDelivery): Verdict {
  const named = headerEvent(delivery.headers);
  const body = kapsoBody(delivery);
  if (named === undefined || body === null || Object.keys(body).length === 0) return { ok: true };
  const own = bodyEvent(body);
  if (own === undefined ? hasShapeOf(named, body) : own === named) return { ok: true };
  return {
    ok: false,
    reason: `x-webhook-event is ${named.slice(0, 100)}, and the body is not of this event`,
  };
}

/**
 * Whether a body that names no event can be of this one. True for events that are not handled here,
 * and for malformed bodies.
 */
function hasShapeOf(event: string, body: JsonObject): boolean {
  const [, subject, kind] =
    /^(?:whatsapp|channel)\.(message|phone_number)\.(\w+)$/.exec(event) ?? [];
  if (subject === 'phone_number') return readProjectNumber(body)?.hasOwner === true;
  if (subject !== 'message') return true;
  return itemsOf(body).every((item) => {
    const direction = textAt(objectAt(objectAt(item.message).kapso).direction);
    return direction === undefined || (direction === 'inbound') === (kind === 'received');
  });
}

/**
 * The id of a delivery. The idempotency key and the event header are unsigned, so the event and
 * a digest of the body are part of the id: a forged header cannot occupy the id of a later,
 * genuine delivery.
 */
export function kapsoDeliveryId({ headers, body }: RawDelivery, eventType: string): string {
  const key = headerOf(headers, 'x-idempotency-key');
  return [key?.slice(0, 100), eventType.slice(0, 100), digestOf(body)].filter(Boolean).join('-');
}
