import { createHmac } from 'node:crypto';

/** Parameters of a request to Flow; absent ones are left out before signing. */
export type FlowParams = Record<string, string | number>;

/**
 * The hex signature `s` of a request to Flow: keys in byte order, each followed by its raw value, HMAC-SHA256 under the
 * secret key (interface.md, Payment provider integration; providers.md 2.3).
 */
export function signParams(params: FlowParams, secretKey: string): string {
  const text = Object.keys(params)
    // Keys are ASCII, where code units sort like bytes; a locale's order would put small letters first.
    .sort((a, b) => (a < b ? -1 : 1))
    .map((key) => `${key}${params[key]}`)
    .join('');
  return createHmac('sha256', secretKey).update(text).digest('hex');
}
