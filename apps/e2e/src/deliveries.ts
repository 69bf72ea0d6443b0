import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testing';
import { signBody, signStandardWebhook } from '@parley/webhooks';
import { createClient } from './client';
import type { Answer } from './conformance';
import { shared } from './stack';
import type { Tenant } from './tenant';

export const clerk = '/webhook/clerk';
export const kapsoProject = '/webhook/kapso/project';
export const kapsoMessages = '/webhook/kapso/messages';
export const polar = '/webhook/polar';
/** The number in the samples. */
export const phoneNumberId = '109876543210987';
export const resend = '/webhook/resend';

/**
 * A sample of a provider's deliveries. Its files are at an address of this machine, which the
 * worker refuses to call.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each sample has its own shape
export const sample = (file: string): any => {
  const text = readFileSync(
    join(__dirname, '../../../libs/webhooks/fixtures', `${file}.json`),
    'utf8',
  );
  return JSON.parse(text.replaceAll('app.kapso.example', 'files.localhost'));
};

/**
 * Ten random hexadecimal digits, for ids that must be unique in the database that test files share.
 */
export const unique = (): string => randomBytes(5).toString('hex');

export interface SignOptions {
  id?: string;
  nowMs?: number;
  /** The name of the event, which Kapso sends in a header. */
  event?: string;
  secret?: string;
}

/** The headers with which the provider of a path signs a body. */
export function sign(
  path: string,
  body: Buffer,
  options: SignOptions = {},
): Record<string, string> {
  const { id = randomUUID(), nowMs = Date.now(), event } = options;
  const {
    IDENTITY_WEBHOOK_SECRET,
    MESSAGING_WEBHOOK_SECRET,
    BILLING_WEBHOOK_SECRET,
    EMAIL_WEBHOOK_SECRET,
  } = shared.webhookSecrets;
  if (path === kapsoProject || path === kapsoMessages) {
    return {
      'x-webhook-signature': signBody(body, options.secret ?? MESSAGING_WEBHOOK_SECRET),
      'x-webhook-payload-version': 'v2',
      'x-idempotency-key': id,
      ...(event !== undefined && { 'x-webhook-event': event }),
    };
  }
  const own: Record<string, string> = {
    [clerk]: IDENTITY_WEBHOOK_SECRET,
    [polar]: BILLING_WEBHOOK_SECRET,
    [resend]: EMAIL_WEBHOOK_SECRET,
  };
  const isPolar = path === polar;
  const secret = options.secret ?? own[path]!;
  return signStandardWebhook({
    id,
    body,
    secret,
    family: isPolar ? 'webhook' : 'svix',
    isSecretDecoded: !isPolar,
    nowMs,
  });
}

/**
 * Posts a signed delivery through the gateway. The response is checked against the
 * OpenAPI document.
 */
export function deliver(path: string, body: unknown, options: SignOptions = {}): Promise<Answer> {
  const bytes = bytesOf(body);
  return createClient(shared.url).send(
    'POST',
    path,
    new Uint8Array(bytes),
    sign(path, bytes, options),
  );
}

export const bytesOf = (body: unknown): Buffer =>
  typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.isBuffer(body)
      ? body
      : Buffer.from(JSON.stringify(body));

/** A delivery that is valid for any stack with the shared secrets. */
interface SignedDelivery {
  path: string;
  body: string;
  /** Signs at each call, as a delivery may be repeated later. */
  headers(): Record<string, string>;
}

function signed(path: string, content: unknown, event?: string): SignedDelivery {
  const [id, body] = [randomUUID(), JSON.stringify(content)];
  return { path, body, headers: () => sign(path, Buffer.from(body), { id, event }) };
}

/** The delivery of an order that the organization has paid. */
export function orderPaid(organizationId: string, orderId: string, cents: number): SignedDelivery {
  const order = sample('polar/order.paid');
  Object.assign(order.data, { id: orderId, subtotal_amount: cents, metadata: { organizationId } });
  return signed(polar, order);
}

/** The delivery of a text from a contact to the number in the samples. */
export function messageReceived(id: string, contact: string, text: string): SignedDelivery {
  const event = 'whatsapp.message.received';
  const { message, conversation, ...rest } = sample(`kapso/${event}`);
  // These fields identify the person in the sample.
  for (const key of ['from_user_id', 'username', 'business_scoped_user_id']) {
    delete message[key];
    delete conversation[key];
  }
  const kapso = { ...message.kapso, content: text };
  const content = {
    message: { ...message, id, from: contact, text: { body: text }, kapso },
    conversation: { ...conversation, phone_number: contact },
    ...rest,
  };
  return signed(kapsoMessages, content, event);
}

export interface ProcessedDelivery {
  id: string;
  status: string;
  reason: string | null;
  tenant: string | null;
}

/** Waits until the worker has processed a delivery. Returns its row. */
export function waitForDelivery({ query }: Tenant, id: string): Promise<ProcessedDelivery> {
  return until(async () => {
    const [row] = await query(
      `select id, status, reason, tenant from webhook_deliveries
       where (delivery_id = $1 or starts_with(delivery_id, $1 || '-')) and status <> 'received'`,
      [id],
    );
    return row as unknown as ProcessedDelivery | undefined;
  });
}

/** Posts a delivery that must be accepted, and waits until it is processed. */
export async function deliverAndWait(
  tenant: Tenant,
  path: string,
  body: unknown,
  options: SignOptions = {},
): Promise<ProcessedDelivery> {
  const id = options.id ?? randomUUID();
  const { status, body: answer } = await deliver(path, body, { ...options, id });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
  return waitForDelivery(tenant, id);
}
