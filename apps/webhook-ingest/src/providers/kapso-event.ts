import type { JsonObject } from '@parley/contracts';
import { type DeliveryHeaders, type Verdict, headerOf, verifyBodySignature } from '@parley/webhooks';
import { type RawDelivery, eventNameAt } from '../door';
import { digestOf } from '../receive';

export function verifyKapso({ headers, body }: RawDelivery, secrets: readonly string[]): Verdict {
  if (secrets.length === 0) return { ok: false, reason: 'MESSAGING_WEBHOOK_SECRET is not set' };
  return verifyBodySignature({ headers, body, secrets });
}

/**
 * The provider names the event in a header, the interface in the body, a batch in its type (providers.md, 1). A header
 * does not make sense of a body that is empty, or in which a name is no text.
 */
export function kapsoEvent(headers: DeliveryHeaders, body: JsonObject): string | undefined {
  const names = [body.event, body.type].filter((name) => name !== undefined && name !== null);
  if (Object.keys(body).length === 0 || names.some((name) => typeof name !== 'string')) return undefined;
  return headerOf(headers, 'x-webhook-event') ?? eventNameAt(body.event) ?? eventNameAt(body.type);
}

/** The key alone is not signed, so the bytes belong to it: nobody can take the place of a delivery yet to come. */
export function kapsoDeliveryId({ headers, body }: RawDelivery, eventType: string): string {
  const key = headerOf(headers, 'x-idempotency-key');
  const digest = digestOf(body);
  return key === undefined ? `${eventType}-${digest}` : `${key.slice(0, 100)}-${digest.slice(0, 32)}`;
}
