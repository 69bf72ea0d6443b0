import { createHmac } from 'node:crypto';
import { type DeliveryHeaders, type Verdict, headerOf, isEqual } from './verdict';

/**
 * Maximum age, and maximum time in the future
 * (docs/reference/providers.md#standard-webhooks-signatures).
 */
const toleranceSeconds = 300;
/** A shorter decoded key can be guessed, so it is not used. */
const shortestKeyBytes = 16;

/** Prefix of the three headers. */
export type HeaderFamily = 'svix' | 'webhook';

export interface SignedDelivery {
  headers: DeliveryHeaders;
  /** The raw bytes: serializing a parsed body again changes the signature. */
  body: Buffer;
  /** A signature by any of them is accepted, so that secrets can be rotated. */
  secrets: readonly string[];
  /** The first whose id header is present is used. */
  families: readonly HeaderFamily[];
  nowMs: number;
}

/**
 * Verifies the scheme of Standard Webhooks and Svix (Polar, Resend, Clerk): HMAC-SHA256 of
 * `id.timestamp.body`, base64.
 */
export function verifyStandardWebhook({
  headers,
  body,
  secrets,
  families,
  nowMs,
}: SignedDelivery): Verdict {
  const family =
    families.find((name) => headerOf(headers, `${name}-id`) !== undefined) ?? families[0]!;
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `${family}-${name}`),
  );
  if (!id) return { ok: false, reason: `the header ${family}-id is missing` };
  if (!timestamp) return { ok: false, reason: `the header ${family}-timestamp is missing` };
  if (!signature) return { ok: false, reason: `the header ${family}-signature is missing` };
  if (!/^\d{1,12}$/.test(timestamp))
    return { ok: false, reason: `${family}-timestamp is not a time in Unix seconds` };
  const ageSeconds = Math.floor(nowMs / 1000) - Number(timestamp);
  if (ageSeconds > toleranceSeconds)
    return { ok: false, reason: `clock: the delivery is ${ageSeconds} s old` };
  if (ageSeconds < -toleranceSeconds)
    return { ok: false, reason: `clock: the delivery is ${-ageSeconds} s in the future` };
  const given = signature
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice(3)));
  if (given.length === 0)
    return { ok: false, reason: `${family}-signature holds no signature of version v1` };
  const expected = secrets
    .flatMap(keysOf)
    .map((key) => Buffer.from(signatureOf(key, { id, timestamp, body })));
  if (given.some((signature) => expected.some((other) => isEqual(signature, other))))
    return { ok: true };
  return { ok: false, reason: 'secret: no signature matches the body' };
}

/** Returns the headers of a delivery signed now. Svix decodes its secrets, Polar does not. */
export function signStandardWebhook({
  id,
  body,
  secret,
  family,
  isSecretDecoded,
  nowMs,
}: {
  id: string;
  body: Buffer;
  secret: string;
  family: HeaderFamily;
  isSecretDecoded: boolean;
  nowMs: number;
}): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = isSecretDecoded ? (decodedKeyOf(secret) ?? Buffer.from(secret)) : Buffer.from(secret);
  return {
    [`${family}-id`]: id,
    [`${family}-timestamp`]: timestamp,
    [`${family}-signature`]: `v1,${signatureOf(key, { id, timestamp, body })}`,
  };
}

function signatureOf(key: Buffer, signed: { id: string; timestamp: string; body: Buffer }): string {
  return createHmac('sha256', key)
    .update(`${signed.id}.${signed.timestamp}.`)
    .update(signed.body)
    .digest('base64');
}

/**
 * Polar uses the secret's text as the key, Svix decodes it after `whsec_`. Secrets of both look
 * alike: both are tried.
 */
function keysOf(secret: string): Buffer[] {
  const decoded = decodedKeyOf(secret);
  return decoded === null ? [Buffer.from(secret)] : [decoded, Buffer.from(secret)];
}

function decodedKeyOf(secret: string): Buffer | null {
  if (!secret.startsWith('whsec_')) return null;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return key.length >= shortestKeyBytes ? key : null;
}
