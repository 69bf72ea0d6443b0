import { createHmac } from 'node:crypto';

/** Parameters of a request to Flow. */
export type FlowParams = Record<string, string | number>;

/**
 * The signature `s` of a request to Flow: HMAC-SHA256 in hex of the keys in byte order, each
 * followed by its raw value (docs/reference/providers.md#flow-signatures).
 */
export function signParams(params: FlowParams, secretKey: string): string {
  const text = Object.keys(params)
    // ASCII keys sort by code unit as by byte. The order of a locale would be different.
    .sort((a, b) => (a < b ? -1 : 1))
    .map((key) => `${key}${params[key]}`)
    .join('');
  return createHmac('sha256', secretKey).update(text).digest('hex');
}
