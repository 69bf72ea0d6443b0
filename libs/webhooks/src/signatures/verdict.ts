import { timingSafeEqual } from 'node:crypto';

/** Whether a delivery is the provider's; the reason of a refusal is for the inbox, never for the reply. */
export type Verdict = { ok: true } | { ok: false; reason: string };

/** Names in lower case, as Node gives them. */
export type DeliveryHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One header; of a repeated one the first. */
export function headerOf(headers: DeliveryHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Takes as long for a near miss as for any other text of this length. */
export function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
