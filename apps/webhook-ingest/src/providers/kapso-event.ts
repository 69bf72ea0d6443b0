import { type JsonObject, textAt } from '@parley/contracts';
import { type DeliveryHeaders, type Verdict, headerOf, verifyBodySignature } from '@parley/webhooks';
import type { RawDelivery } from '../door';
import { digestOf } from '../receive';

export function verifyKapso({ headers, body }: RawDelivery, secrets: readonly string[]): Verdict {
  if (secrets.length === 0) return { ok: false, reason: 'MESSAGING_WEBHOOK_SECRET is not set' };
  return verifyBodySignature({ headers, body, secrets });
}

/** The provider names the event in a header, the interface in the body, a batch in its type (providers.md, 1). */
export const kapsoEvent = (headers: DeliveryHeaders, body: JsonObject): string | undefined =>
  headerOf(headers, 'x-webhook-event') ?? textAt(body.event) ?? textAt(body.type);

/** The key alone is not signed, so the bytes belong to it: nobody can take the place of a delivery yet to come. */
export function kapsoDeliveryId({ headers, body }: RawDelivery, eventType: string): string {
  const key = headerOf(headers, 'x-idempotency-key');
  const digest = digestOf(body);
  return key === undefined ? `${eventType}-${digest}` : `${key.slice(0, 100)}-${digest.slice(0, 32)}`;
}
