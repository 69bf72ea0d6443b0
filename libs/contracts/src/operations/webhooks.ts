import { z } from 'zod';
import { defineOperations, mebibyte, post } from './operation';

/** A delivery proves itself by its signature; its body is read as bytes, which the signature covers. */
const table = {
  clerkWebhook: post('/webhook/clerk', null, { bodyLimitBytes: mebibyte }),
  kapsoProjectWebhook: post('/webhook/kapso/project', null, { bodyLimitBytes: mebibyte }),
  kapsoMessagesWebhook: post('/webhook/kapso/messages', null, { bodyLimitBytes: mebibyte }),
  // A callback is one short field.
  flowWebhook: post('/webhook/flow', null, { bodyLimitBytes: 16 * 1024 }),
  polarWebhook: post('/webhook/polar', null, { bodyLimitBytes: mebibyte }),
  resendWebhook: post('/webhook/resend', null, { bodyLimitBytes: mebibyte }),
};

/** Providers send what they like; what must be in it is checked after the signature (docs of each provider). */
const eventBody = z.looseObject({});
const received = z.object({ received: z.literal(true) });
const failed = [['processing_failed', 'Webhook could not be processed']] as const;
const refused = [
  ['invalid_signature', 'Invalid signature'],
  ['malformed_body', 'The webhook body could not be understood'],
] as const;
const svixHeaders = (vendor: string) => ({
  [`${vendor}-id`]: 'Identifies the delivery.',
  [`${vendor}-timestamp`]: 'Unix seconds; more than 5 minutes off is refused.',
  [`${vendor}-signature`]: '`v1,<base64>`: HMAC-SHA256 over `id.timestamp.body`.',
});

export const webhookOperations = defineOperations('Webhooks', table, {
  clerkWebhook: {
    summary: 'Users and organizations of the identity provider',
    description:
      'Without `IDENTITY_WEBHOOK_SECRET`, deliveries are accepted unsigned in development and answered 401 in production (unless `IDENTITY_WEBHOOK_UNSIGNED=true`). With it, a delivery without a valid signature is answered 401.',
    documentedBody: eventBody,
    response: received,
    errors: { 401: [['invalid_signature', 'Invalid signature']], 500: failed },
    example: {
      body: { type: 'user.created', data: { id: 'user_1', email_addresses: [] } },
      response: { received: true },
    },
  },
  kapsoProjectWebhook: {
    summary: 'Connections of the messaging channel',
    headers: { 'X-Webhook-Signature': 'HMAC-SHA256 over the raw body, in hex.' },
    documentedBody: eventBody,
    response: received,
    errors: { 403: [['invalid_signature', 'Invalid signature']], 500: failed },
    example: { body: { event: 'whatsapp.phone_number.created' }, response: { received: true } },
  },
  kapsoMessagesWebhook: {
    summary: 'Messages of the messaging channel and their delivery',
    headers: { 'X-Webhook-Signature': 'HMAC-SHA256 over the raw body, in hex.' },
    documentedBody: eventBody,
    response: received,
    errors: {
      403: [['invalid_signature', 'Invalid signature']],
      500: [...failed, ['phone_number_not_found', 'Phone number not found']],
    },
    example: { body: { event: 'whatsapp.message.received', payload_version: 'v2' }, response: { received: true } },
  },
  flowWebhook: {
    summary: 'Payments: a token, whose payment is then asked for',
    description: 'Always answered with 200.',
    documentedBody: z.looseObject({ token: z.string().optional() }),
    bodyType: 'application/x-www-form-urlencoded',
    response: received,
    example: { body: { token: '41D8…' }, response: { received: true } },
  },
  polarWebhook: {
    summary: 'Orders of the billing platform',
    headers: svixHeaders('webhook'),
    documentedBody: eventBody,
    response: received,
    errors: { 400: refused },
    example: { body: { type: 'order.paid', data: { id: 'order_1' } }, response: { received: true } },
  },
  resendWebhook: {
    summary: 'Delivery of e-mails',
    headers: svixHeaders('svix'),
    documentedBody: eventBody,
    response: received,
    errors: { 400: refused },
    example: { body: { type: 'email.delivered', data: { email_id: 'e_1' } }, response: { received: true } },
  },
});
