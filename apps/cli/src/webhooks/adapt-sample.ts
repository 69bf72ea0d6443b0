import { randomUUID } from 'node:crypto';
import { oldestAgent } from '@parley/agents';
import { latestSent, listConnections, simulateConnection } from '@parley/channels';
import { type Json, type JsonObject, type Scope, listAt, objectAt } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { latestReferences } from '@parley/payments';
import type { WebhookSample } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { findOrganization } from '../organizations';

/**
 * Replaces values of a sample by the environment's values: its organization, number, last message, e-mail or order, the
 * current time, and new ids. Returns notes for the user.
 */
export async function adaptSample(
  db: Queryable,
  scope: Scope,
  { name, path, event }: WebhookSample & { name: string },
  body: JsonObject,
): Promise<string[]> {
  if (name.endsWith('.unknown-number')) {
    renew(body, `wamid.${randomUUID()}`);
    return ['The number of this sample has no connection. webhook-ingest answers with an error until it has one.'];
  }
  if (path === '/webhook/kapso/messages') return adaptMessages(db, scope, event, body);
  const data = objectAt(body.data);
  if (path === '/webhook/polar' && event.startsWith('order.')) {
    const isRefund = event === 'order.refunded';
    const order = isRefund ? (await latestReferences(db, scope)).orderId : null;
    data.id = order ?? randomUUID();
    if (objectAt(data.metadata).organizationId !== undefined) data.metadata = { organizationId: scope.organizationId };
    const customer = objectAt(data.customer);
    if (customer.external_id != null) customer.external_id = scope.organizationId;
    return isRefund && order === null ? ['No order has been paid yet. The refund counts once its order is paid.'] : [];
  }
  if (path === '/webhook/flow') {
    const { flowToken: token } = await latestReferences(db, scope);
    if (token !== null) body.token = token;
    return token === null ? ['No payment has a link yet. The token of this sample matches no payment.'] : [];
  }
  if (path === '/webhook/resend' && 'email_id' in data) {
    const { emailId: email } = await latestSent(db, scope);
    if (email !== null) data.email_id = email;
    return email === null ? ['No e-mail has been sent yet. The status of this sample matches no e-mail.'] : [];
  }
  return [];
}

/**
 * Sets the time of an event of the identity provider, and with `slug` the organization that it names. Without `slug` the
 * event names the organization of the sample.
 */
export async function adaptIdentitySample(body: JsonObject, slug: string | undefined): Promise<void> {
  const nowMs = Date.now();
  body.timestamp = nowMs;
  const data = objectAt(body.data);
  if ('updated_at' in data) data.updated_at = nowMs;
  if (slug === undefined) return;
  const event = String(body.type);
  if (!event.startsWith('organization')) throw usageFailure(`${event} names no organization. Omit --org`);
  const { externalId, name } = await withDatabase((db) => findOrganization(db, slug));
  if (externalId === null)
    throw new Failure(`${slug} was created here, so the identity provider sends nothing about it`);
  const named = event.startsWith('organizationMembership') ? objectAt(data.organization) : data;
  Object.assign(named, { id: externalId }, 'slug' in named && { slug }, 'name' in named && { name });
}

async function adaptMessages(db: Queryable, scope: Scope, event: string, body: JsonObject): Promise<string[]> {
  const { phoneNumberId, notes } = await numberOf(db, scope);
  const items = Array.isArray(body.data) ? listAt(body.data).map(objectAt) : [body];
  const isStatus = !event.endsWith('.received');
  const sent = isStatus ? (await latestSent(db, scope)).messageId : null;
  for (const item of items) {
    item.phone_number_id = phoneNumberId;
    if ('phone_number_id' in objectAt(item.conversation)) objectAt(item.conversation).phone_number_id = phoneNumberId;
    renew(item, sent ?? `wamid.${randomUUID()}`);
  }
  if (isStatus && sent === null)
    notes.push('No message has been sent yet. The status of this sample matches no message.');
  return notes;
}

const renew = (item: JsonObject, id: string): void =>
  void Object.assign(objectAt(item.message), { id, timestamp: String(Math.floor(Date.now() / 1000)) });

/** The connected number. In development, a simulated connection is created when there is none. */
async function numberOf(db: Queryable, scope: Scope): Promise<{ phoneNumberId: string; notes: string[] }> {
  const connections = await listConnections(db, scope);
  const connected = connections.find(({ status }) => status === 'connected')?.phoneNumberId ?? null;
  if (connected !== null) return { phoneNumberId: connected, notes: [] };
  if (scope.environment === 'production')
    throw new Failure('No number is connected in production. Connect one with: parley channels connect');
  const agent = await oldestAgent(db, scope);
  if (agent === null) throw new Failure('There is no agent to answer the message. Push one first: parley push');
  const phoneNumberId = await simulateConnection(db, scope, agent);
  return { phoneNumberId, notes: [`Created a simulated number, which agent ${agent} answers.`] };
}

/** Applies a change such as `data.subtotal_amount=900`. A value that is not JSON is text. */
export function setMember(body: JsonObject, change: string): void {
  const at = change.indexOf('=');
  if (at < 1) throw usageFailure(`--set must be path=value, not "${change}"`);
  const names = change.slice(0, at).split('.');
  const leaf = names.pop()!;
  let target = body;
  for (const name of names) {
    if (typeof target[name] !== 'object' || target[name] === null) target[name] = {};
    target = target[name] as JsonObject;
  }
  target[leaf] = parse(change.slice(at + 1));
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
