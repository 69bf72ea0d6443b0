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
/** Of the number that the samples are about. */
export const phoneNumberId = '109876543210987';
export const resend = '/webhook/resend';

/** A sample of what a provider sends. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each has a shape of its own, as providers have
export const sample = (file: string): any =>
  JSON.parse(readFileSync(join(__dirname, '../../../libs/webhooks/fixtures', `${file}.json`), 'utf8'));

/** Ten hexadecimal digits that nobody else has: files share a database. */
export const unique = (): string => randomBytes(5).toString('hex');

export interface SignOptions {
  id?: string;
  nowMs?: number;
  /** Kapso's name of the event. */
  event?: string;
  secret?: string;
}

/** The headers with which the provider of a path proves a body. */
export function sign(path: string, body: Buffer, options: SignOptions = {}): Record<string, string> {
  const { id = randomUUID(), nowMs = Date.now(), event } = options;
  const { IDENTITY_WEBHOOK_SECRET, MESSAGING_WEBHOOK_SECRET, BILLING_WEBHOOK_SECRET, EMAIL_WEBHOOK_SECRET } =
    shared.webhookSecrets;
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

/** Posts a delivery through the gateway as its provider would; the answer is held against the OpenAPI document. */
export function deliver(path: string, body: unknown, options: SignOptions = {}): Promise<Answer> {
  const bytes = bytesOf(body);
  return createClient(shared.url).send('POST', path, new Uint8Array(bytes), sign(path, bytes, options));
}

export const bytesOf = (body: unknown): Buffer =>
  typeof body === 'string' ? Buffer.from(body) : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));

/** A delivery for any stack that has the shared secrets. */
interface SignedDelivery {
  path: string;
  body: string;
  /** Signed when it is asked for: a delivery may be tried again later. */
  headers(): Record<string, string>;
}

function signed(path: string, content: unknown, event?: string): SignedDelivery {
  const [id, body] = [randomUUID(), JSON.stringify(content)];
  return { path, body, headers: () => sign(path, Buffer.from(body), { id, event }) };
}

/** An order that the organization has paid. */
export function orderPaid(organizationId: string, orderId: string, cents: number): SignedDelivery {
  const order = sample('polar/order.paid');
  Object.assign(order.data, { id: orderId, subtotal_amount: cents, metadata: { organizationId } });
  return signed(polar, order);
}

/** A text that a customer has sent to the number of the samples. */
export function messageReceived(id: string, contact: string, text: string): SignedDelivery {
  const event = 'whatsapp.message.received';
  const { message, conversation, ...rest } = sample(`kapso/${event}`);
  // The sample's person has these names, another has none.
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

export interface WorkedOff {
  id: string;
  status: string;
  reason: string | null;
  tenant: string | null;
}

/** The row of a delivery, once the worker is done with it. */
export function workedOff({ query }: Tenant, id: string): Promise<WorkedOff> {
  return until(async () => {
    const [row] = await query(
      `select id, status, reason, tenant from webhook_deliveries
       where (delivery_id = $1 or starts_with(delivery_id, $1 || '-')) and status <> 'received'`,
      [id],
    );
    return row as unknown as WorkedOff | undefined;
  });
}

/** Delivers what must be accepted and waits until it is worked off. */
export async function deliverAndWait(
  tenant: Tenant,
  path: string,
  body: unknown,
  options: SignOptions = {},
): Promise<WorkedOff> {
  const id = options.id ?? randomUUID();
  const { status, body: answer } = await deliver(path, body, { ...options, id });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
  return workedOff(tenant, id);
}
