import { createHmac } from 'node:crypto';
import { type DeliveryHeaders, type Verdict, headerOf, isEqual } from './verdict';

const header = 'x-webhook-signature';

/**
 * Verifies Kapso's scheme: HMAC-SHA256 of the raw body in lower-case hex, without a time or a
 * prefix (docs/reference/providers.md#kapso-signatures).
 */
export function verifyBodySignature({
  headers,
  body,
  secrets,
}: {
  headers: DeliveryHeaders;
  body: Buffer;
  secrets: readonly string[];
}): Verdict {
  const problem = bodySignatureProblem(headers);
  if (problem !== null) return { ok: false, reason: problem };
  const given = Buffer.from(headerOf(headers, header)!);
  const isSigned = secrets.some((secret) => isEqual(given, Buffer.from(signBody(body, secret))));
  return isSigned
    ? { ok: true }
    : { ok: false, reason: 'secret: the signature does not match the body' };
}

/** Why the signature is malformed; null when it is not. */
export function bodySignatureProblem(headers: DeliveryHeaders): string | null {
  const given = headerOf(headers, header);
  if (!given) return `the header ${header} is missing`;
  return /^[0-9a-f]{64}$/.test(given) ? null : `${header} is not 64 digits of lower-case hex`;
}

/** Signs a body as Kapso does, for `X-Webhook-Signature`. */
export const signBody = (body: Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');
