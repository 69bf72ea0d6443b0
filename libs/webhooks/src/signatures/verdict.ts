import { timingSafeEqual } from 'node:crypto';

/**
 * Whether the signature of a delivery is valid. The reason of a refusal is for the inbox,
 * never for the reply.
 */
export type Verdict = { ok: true } | { ok: false; reason: string };

/** Names are in lower case, as in Node. */
export type DeliveryHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header; the first one if it is repeated. */
export function headerOf(headers: DeliveryHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Compares in constant time for a given length. */
export function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
