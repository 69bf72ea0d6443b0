import { type Queryable, type Tenant, statement } from '@parley/db';
import type { KapsoClient } from '../kapso/kapso-client';
import { fingerprintOf, webhookSecretOf } from './webhook-secret';

export interface WebhookSettings {
  /** Public address of the messages webhook. */
  webhookUrl: string;
  /** Those of the deployment (`MESSAGING_WEBHOOK_SECRET`). What is registered is derived from the first, and is none of them. */
  webhookSecrets: readonly string[];
}

/** All of a phone number's messages, to our door. */
const messageEvents = ['received', 'sent', 'delivered', 'read', 'failed'].map((name) => `whatsapp.message.${name}`);

/** Duration of one registration's lease, in seconds. Its three calls together take less (`kapsoTimeoutMs` each). */
export const registrationLeaseSeconds = 60;

const noteRegistration = statement(
  'note-registration',
  `update channel_connections
   set webhook_id = $2, secret_fingerprint = case when webhook_try_at = $4 then $3 else '' end, webhook_attempts = 0,
       webhook_try_at = null
   where id = $1`,
);

/**
 * Registers the messages webhook of a number, or takes over the one with our address, and notes on the connection which
 * secret it was derived from. May be repeated. `lease` is the connection's `webhook_try_at` as this caller has set it: when
 * somebody else has taken it since, nobody knows whose registration was the last, and the sweep registers once more.
 */
export async function registerWebhook(
  db: Queryable,
  client: KapsoClient,
  { webhookUrl: url, webhookSecrets }: WebhookSettings,
  { tenant, id, phoneNumberId, lease }: Tenant & { id: string; phoneNumberId: string; lease: Date },
): Promise<{ ok: true; webhookId: string } | { ok: false; message: string }> {
  const [secret] = webhookSecrets;
  if (secret === undefined) return { ok: false, message: 'MESSAGING_WEBHOOK_SECRET is not set' };
  const listed = await client.listWebhooks(phoneNumberId);
  if (!listed.ok) return listed;
  const ours = listed.value.find((webhook) => webhook.url === url);
  const settings = { secretKey: webhookSecretOf(secret, id), events: messageEvents };
  const done =
    ours === undefined
      ? await client.createWebhook(phoneNumberId, { url, ...settings })
      : await client.updateWebhook(phoneNumberId, ours.id, settings);
  if (!done.ok) return done;
  const webhookId = ours?.id ?? done.value ?? '';
  await db.query({ tenant }, noteRegistration, [id, webhookId, fingerprintOf(secret), lease]);
  return { ok: true, webhookId };
}
