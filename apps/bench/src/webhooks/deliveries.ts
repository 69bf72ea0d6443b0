import { randomUUID } from 'node:crypto';
import { signBody, signStandardWebhook } from '@parley/webhooks';

export const secrets = { kapso: 'kapso-bench-secret', polar: 'polar_whs_bench_secret' };
export const phoneNumberId = '109876543210987';

export interface SignedDelivery {
  path: string;
  body: string;
  /** Signed for each attempt, as a signature contains its time. */
  headers(): Record<string, string>;
}

/** A billing order that the organization has paid. */
export function orderPaid(organizationId: string, orderId: string, cents: number): SignedDelivery {
  const data = {
    id: orderId,
    subtotal_amount: cents,
    currency: 'usd',
    metadata: { organizationId },
  };
  const body = JSON.stringify({ type: 'order.paid', timestamp: new Date().toISOString(), data });
  const id = randomUUID();
  return {
    path: '/webhook/polar',
    body,
    headers: () =>
      signStandardWebhook({
        id,
        body: Buffer.from(body),
        secret: secrets.polar,
        family: 'webhook',
        isSecretDecoded: false,
        nowMs: Date.now(),
      }),
  };
}

const kapso = (event: string, body: string): SignedDelivery => {
  const headers = {
    'X-Webhook-Event': event,
    'X-Idempotency-Key': randomUUID(),
    'X-Webhook-Signature': signBody(Buffer.from(body), secrets.kapso),
  };
  return { path: '/webhook/kapso/messages', body, headers: () => headers };
};

/** A text message of a customer, about one kilobyte, as Kapso sends it. */
export function messageReceived(
  messageId: string,
  contact: string,
  text: string,
  phoneNumber = phoneNumberId,
): SignedDelivery {
  const body = {
    message: {
      id: messageId,
      timestamp: String(Math.floor(Date.now() / 1000)),
      type: 'text',
      from: contact,
      text: { body: text },
      kapso: {
        direction: 'inbound',
        status: 'received',
        origin: 'cloud_api',
        has_media: false,
        content: text,
      },
    },
    conversation: {
      id: randomUUID(),
      phone_number: contact,
      status: 'active',
      phone_number_id: phoneNumber,
    },
    is_new_conversation: false,
    phone_number_id: phoneNumber,
  };
  return kapso('whatsapp.message.received', JSON.stringify(body));
}
