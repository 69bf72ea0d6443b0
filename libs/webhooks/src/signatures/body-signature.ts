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
  const given = headerOf(headers, header);
  if (!given) return { ok: false, reason: `the header ${header} is missing` };
  if (!/^[0-9a-f]{64}$/.test(given)) return { ok: false, reason: `${header} is not 64 digits of lower-case hex` };
  const isSigned = secrets.some((secret) => isEqual(Buffer.from(given), Buffer.from(signBody(body, secret))));
  return isSigned ? { ok: true } : { ok: false, reason: 'secret: the signature does not fit the body' };
}

/** What Kapso sends in `X-Webhook-Signature`. */
export const signBody = (body: Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');
