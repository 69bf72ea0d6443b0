import { z } from 'zod';
import { defineOperations, mebibyte, post } from './operation';

/** No API key: a delivery is authenticated by its signature over the raw bytes of the body. */
const table = {
  clerkWebhook: post('/webhook/clerk', null, { bodyLimitBytes: mebibyte }),
  kapsoProjectWebhook: post('/webhook/kapso/project', null, { bodyLimitBytes: mebibyte }),
  kapsoMessagesWebhook: post('/webhook/kapso/messages', null, { bodyLimitBytes: mebibyte }),
  // The body is one short form field.
  flowWebhook: post('/webhook/flow', null, { bodyLimitBytes: 16 * 1024 }),
  polarWebhook: post('/webhook/polar', null, { bodyLimitBytes: mebibyte }),
  resendWebhook: post('/webhook/resend', null, { bodyLimitBytes: mebibyte }),
};

/**
 * Accepts any object: the fields are checked after the signature
 * (docs/reference/webhooks.md#endpoints).
 */
const eventBody = z.looseObject({});
const received = z.object({ received: z.literal(true).describe('The delivery is stored.') });
const failed = [['processing_failed', 'Webhook could not be processed']] as const;
const refused = [
  ['invalid_signature', 'Invalid signature'],
  ['malformed_body', 'The webhook body could not be understood'],
] as const;
const svixHeaders = (vendor: string) => ({
  [`${vendor}-id`]: 'Identifies the delivery.',
  [`${vendor}-timestamp`]: 'Unix seconds. Refused when more than 5 minutes in the past or future.',
  [`${vendor}-signature`]: '`v1,<base64>`: HMAC-SHA256 over `id.timestamp.body`.',
});

export const webhookOperations = defineOperations('Webhooks', table, {
  clerkWebhook: {
    summary: 'Receive identity events from Clerk',
    description:
      'Users, organizations and memberships. If `IDENTITY_WEBHOOK_SECRET` is set, a delivery without a valid signature is answered with 401. Otherwise unsigned deliveries are accepted in development and answered with 401 in production, unless `IDENTITY_WEBHOOK_UNSIGNED=true`.',
    documentedBody: eventBody,
    response: received,
    errors: { 401: [['invalid_signature', 'Invalid signature']], 500: failed },
    example: {
      body: { type: 'user.created', data: { id: 'user_1', email_addresses: [] } },
      response: { received: true },
    },
  },
  kapsoProjectWebhook: {
    summary: 'Receive connection events from Kapso',
    description: 'WhatsApp numbers that are connected or removed.',
    headers: { 'X-Webhook-Signature': 'HMAC-SHA256 over the raw body, in hex.' },
    documentedBody: eventBody,
    response: received,
    errors: { 403: [['invalid_signature', 'Invalid signature']], 500: failed },
    example: { body: { event: 'whatsapp.phone_number.created' }, response: { received: true } },
  },
  kapsoMessagesWebhook: {
    summary: 'Receive message events from Kapso',
    description: 'Incoming WhatsApp messages and delivery statuses of outgoing ones.',
    headers: { 'X-Webhook-Signature': 'HMAC-SHA256 over the raw body, in hex.' },
    documentedBody: eventBody,
    response: received,
    errors: {
      403: [['invalid_signature', 'Invalid signature']],
      500: [...failed, ['phone_number_not_found', 'Phone number not found']],
    },
    example: {
      body: { event: 'whatsapp.message.received', payload_version: 'v2' },
      response: { received: true },
    },
  },
  flowWebhook: {
    summary: 'Receive payment callbacks from Flow',
    description:
      'The callback contains only a token; the status of the payment is then requested from Flow. Always answered with 200.',
    documentedBody: z.looseObject({
      token: z.string().optional().describe('Token of the payment at Flow.'),
    }),
    bodyType: 'application/x-www-form-urlencoded',
    response: received,
    example: { body: { token: '41D8…' }, response: { received: true } },
  },
  polarWebhook: {
    summary: 'Receive billing events from Polar',
    description: 'Orders that are paid or refunded.',
    headers: svixHeaders('webhook'),
    documentedBody: eventBody,
    response: received,
    errors: { 400: refused },
    example: {
      body: { type: 'order.paid', data: { id: 'order_1' } },
      response: { received: true },
    },
  },
  resendWebhook: {
    summary: 'Receive e-mail events from Resend',
    description: 'Delivery statuses of sent e-mails.',
    headers: svixHeaders('svix'),
    documentedBody: eventBody,
    response: received,
    errors: { 400: refused },
    example: {
      body: { type: 'email.delivered', data: { email_id: 'e_1' } },
      response: { received: true },
    },
  },
});
