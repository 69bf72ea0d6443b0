import { randomUUID } from 'node:crypto';
import type { ManageClient } from '@parley/client/manage';
import {
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  ownValue,
  setOwn,
  textAt,
} from '@parley/contracts';
import type { WebhookSample } from '@parley/webhooks';
import { apiAddress, environmentOf } from '../environment';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, oldestAgent, withManage } from '../manage';

/**
 * Among this many of the latest messages, e-mails, payments and credits a sample finds
 * what it refers to.
 */
const latest = { limit: 100 };

/**
 * Replaces values of a sample by the environment's values: its organization, number, last message,
 * e-mail or order, the current time, and new ids. Returns notes for the user.
 */
export async function adaptSample(
  manage: ManageClient,
  { name, path, event }: WebhookSample & { name: string },
  body: JsonObject,
): Promise<string[]> {
  if (name.endsWith('.unknown-number')) {
    renew(body, `wamid.${randomUUID()}`);
    return [
      'The number of this sample has no connection. webhook-ingest answers with an error until it has one.',
    ];
  }
  if (path === '/webhook/kapso/messages') return adaptMessages(manage, event, body);
  const data = objectAt(body.data);
  if (path === '/webhook/polar' && event.startsWith('order.')) {
    const isRefund = event === 'order.refunded';
    const order = isRefund ? await paidOrder(manage) : undefined;
    data.id = order ?? randomUUID();
    const { id } = await manage.getOrganization();
    if (objectAt(data.metadata).organizationId !== undefined)
      data.metadata = { organizationId: id };
    const customer = objectAt(data.customer);
    if (customer.external_id != null) customer.external_id = id;
    return isRefund && order === undefined
      ? ['No order has been paid yet. The refund counts once its order is paid.']
      : [];
  }
  if (path === '/webhook/flow') {
    const links = (await manage.listPayments(latest)).data.map((one) =>
      textAt(one.data.paymentLinkUrl),
    );
    const token = new URL(links.find(Boolean) ?? 'http://none').searchParams.get('token');
    if (token !== null) body.token = token;
    return token === null
      ? ['No payment has a link yet. The token of this sample matches no payment.']
      : [];
  }
  if (path === '/webhook/resend' && 'email_id' in data) {
    const email = (await manage.listEmails(latest)).data.find(
      ({ providerId }) => providerId !== null,
    );
    if (email) data.email_id = email.providerId;
    return email
      ? []
      : ['No e-mail has been sent yet. The status of this sample matches no e-mail.'];
  }
  return [];
}

/** The last order that was paid, which the cause of its credit names. */
async function paidOrder(manage: ManageClient): Promise<string | undefined> {
  const { data } = await manage.listCreditEntries(latest);
  return data.map(({ cause }) => /^polar-order-(.+)-paid$/.exec(cause)?.[1]).find(Boolean);
}

/**
 * Sets the time of an event of the identity provider, and with `org` the organization that it
 * names. Without, the event names the organization of the sample.
 */
export async function adaptIdentitySample(body: JsonObject, options: KeyOptions): Promise<void> {
  const nowMs = Date.now();
  body.timestamp = nowMs;
  const data = objectAt(body.data);
  if ('updated_at' in data) data.updated_at = nowMs;
  if (options.org === undefined) return;
  const event = String(body.type);
  if (!event.startsWith('organization'))
    throw usageFailure(`${event} names no organization. Omit --org`);
  const { externalId, name, slug } = await withManage(options, (manage) =>
    manage.getOrganization(),
  );
  if (externalId === null)
    throw new Failure(`${slug} was created here, so the identity provider sends nothing about it`);
  const named = event.startsWith('organizationMembership') ? objectAt(data.organization) : data;
  Object.assign(
    named,
    { id: externalId },
    'slug' in named && { slug },
    'name' in named && { name },
  );
}

async function adaptMessages(
  manage: ManageClient,
  event: string,
  body: JsonObject,
): Promise<string[]> {
  const { phoneNumberId, notes } = await numberOf(manage);
  const items = Array.isArray(body.data) ? listAt(body.data).map(objectAt) : [body];
  const isStatus = !event.endsWith('.received');
  const { data } = isStatus
    ? await manage.listChannelMessages({ ...latest, direction: 'outbound' })
    : { data: [] };
  const sent = data.find(({ messageId }) => messageId !== null)?.messageId;
  for (const item of items) {
    item.phone_number_id = phoneNumberId;
    if ('phone_number_id' in objectAt(item.conversation))
      objectAt(item.conversation).phone_number_id = phoneNumberId;
    renew(item, sent ?? `wamid.${randomUUID()}`);
  }
  if (isStatus && sent === undefined)
    notes.push('No message has been sent yet. The status of this sample matches no message.');
  return notes;
}

const renew = (item: JsonObject, id: string): void =>
  void Object.assign(objectAt(item.message), {
    id,
    timestamp: String(Math.floor(Date.now() / 1000)),
  });

/** The connected number. In development, a simulated one is connected when there is none. */
async function numberOf(manage: ManageClient): Promise<{ phoneNumberId: string; notes: string[] }> {
  const { data } = await manage.listChannels();
  const connected = data.find(({ status }) => status === 'connected')?.phoneNumberId;
  if (connected) return { phoneNumberId: connected, notes: [] };
  if (environmentOf(apiAddress().key) === 'production')
    throw new Failure(
      'No number is connected in production. Connect one with: parley channels connect',
    );
  const agent = await oldestAgent(manage);
  const { channel } = await manage.connectChannel({ agent, isSimulated: true });
  return {
    phoneNumberId: channel.phoneNumberId!,
    notes: [`Created a simulated number, which agent ${agent} answers.`],
  };
}

/** Applies a change such as `data.subtotal_amount=900`. A value that is not JSON is text. */
export function setMember(body: JsonObject, change: string): void {
  const at = change.indexOf('=');
  if (at < 1) throw usageFailure(`--set must be path=value, not "${change}"`);
  const names = change.slice(0, at).split('.');
  const leaf = names.pop()!;
  let target = body;
  for (const name of names) {
    const inner = ownValue(target, name);
    const next = typeof inner === 'object' && inner !== null ? (inner as JsonObject) : {};
    setOwn(target, name, next);
    target = next;
  }
  setOwn(target, leaf, parse(change.slice(at + 1)));
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
