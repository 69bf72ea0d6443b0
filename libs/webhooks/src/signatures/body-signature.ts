import { createHmac } from 'node:crypto';
import { type DeliveryHeaders, type Verdict, headerOf, isEqual } from './verdict';

const header = 'x-webhook-signature';

/** Kapso's scheme: HMAC-SHA256 of the raw body in lower-case hex, no time and no prefix (providers.md, 2.2). */
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
  return isSigned ? { ok: true } : { ok: false, reason: 'secret: the signature does not fit the body' };
}

/** Why no secret can have made the signature; null when one could. */
export function bodySignatureProblem(headers: DeliveryHeaders): string | null {
  const given = headerOf(headers, header);
  if (!given) return `the header ${header} is missing`;
  return /^[0-9a-f]{64}$/.test(given) ? null : `${header} is not 64 digits of lower-case hex`;
}

/** What Kapso sends in `X-Webhook-Signature`. */
export const signBody = (body: Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');
