import { type Environment, type JsonObject, listAt, objectAt, operations, textAt } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { HttpError, forbidden } from '@parley/service';
import { readJsonObject } from '@parley/webhooks';
import { type Door, type Location, processingFailure } from '../door';
import { kapsoDeliveryId, kapsoEvent, verifyKapso } from './kapso-event';

const handled = /^(whatsapp|channel)\.message\.(received|sent|delivered|read|failed|status)$/;

/** Messages and their statuses, single or in batches; the number that they came to says whose they are. */
export function kapsoMessagesDoor(secrets: readonly string[]): Door {
  const known = createKnownNumbers();
  return {
    provider: 'kapso',
    operation: operations.kapsoMessagesWebhook,
    verify: (delivery) => verifyKapso(delivery, secrets),
    read(delivery) {
      const body = readJsonObject(delivery.body);
      if (body === null) return { ok: false, reason: 'the body is not a JSON object' };
      const eventType = kapsoEvent(delivery.headers, body);
      if (eventType === undefined) return { ok: false, reason: 'the body is empty, or the event is not named' };
      const isHandled = handled.test(eventType);
      if (isHandled && phoneNumberIdsOf(body).length === 0)
        return { ok: false, reason: 'the body has no phone_number_id' };
      return { ok: true, event: { deliveryId: kapsoDeliveryId(delivery, eventType), eventType, isHandled } };
    },
    async locate(db, { body }) {
      const [first, ...others] = phoneNumberIdsOf(readJsonObject(body) ?? {});
      // One batch is one conversation, so one number.
      if (first === undefined || others.length > 0) return { ok: false, reason: 'the body names several numbers' };
      return known(db, first);
    },
    refusals: {
      signature: forbidden('Invalid signature', 'invalid_signature'),
      malformed: processingFailure(),
      unlocated: new HttpError(500, 'phone_number_not_found', 'Phone number not found'),
      unavailable: processingFailure(),
    },
  };
}

function phoneNumberIdsOf(body: JsonObject): string[] {
  const items = body.batch === true || Array.isArray(body.data) ? listAt(body.data).map(objectAt) : [body];
  const ids = items.map(
    (item) => textAt(item.phone_number_id) ?? textAt(objectAt(item.conversation).phone_number_id) ?? '',
  );
  return [...new Set(ids)].filter((id) => id !== '');
}

const keptMs = 2_000;
const keptNumbers = 10_000;

/** A number that was found is not looked up again for 2 s; its job looks again anyway. */
function createKnownNumbers() {
  const kept = new Map<string, { location: Location; untilMs: number }>();
  return async (db: Queryable, phoneNumberId: string): Promise<Location> => {
    const before = kept.get(phoneNumberId);
    if (before !== undefined && before.untilMs > performance.now()) return before.location;
    const { rows } = await db.query<{ organizationId: string; environment: Environment }>({
      name: 'connection-by-phone-number-id',
      text: `select c.organization_id as "organizationId", c.environment from channel_connections c
             join organizations o on o.id = c.organization_id and o.deleted_at is null where c.phone_number_id = $1`,
      values: [phoneNumberId],
    });
    kept.delete(phoneNumberId);
    if (rows[0] === undefined) return { ok: false, reason: `phone number ${phoneNumberId} belongs to no connection` };
    const location: Location = { ok: true, owner: rows[0] };
    kept.set(phoneNumberId, { location, untilMs: performance.now() + keptMs });
    if (kept.size > keptNumbers) kept.delete(kept.keys().next().value!);
    return location;
  };
}
