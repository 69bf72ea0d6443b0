import { type Queryable, type Tenant, statement } from '@parley/db';
import type { KapsoClient } from '../kapso/kapso-client';
import { fingerprintOf, webhookSecretOf } from './webhook-secret';

export interface WebhookSettings {
  /** Public address of the webhook endpoint for messages. */
  webhookUrl: string;
  /**
   * The deployment's secrets (`MESSAGING_WEBHOOK_SECRET`). A secret derived from the first
   * one is registered.
   */
  webhookSecrets: readonly string[];
}

const messageEvents = ['received', 'sent', 'delivered', 'read', 'failed'].map(
  (name) => `whatsapp.message.${name}`,
);

/**
 * Duration of one registration's lease, in seconds. Its three calls together take less
 * (`kapsoTimeoutMs` each).
 */
export const registrationLeaseSeconds = 60;

const noteRegistration = statement(
  'note-registration',
  `update channel_connections
   set webhook_id = $webhookId, secret_fingerprint = case when webhook_try_at = $lease then $fingerprint else '' end,
     webhook_attempts = 0,
       webhook_try_at = null
   where id = $id`,
);

/**
 * Registers the messages webhook of a number, or updates the one with our address. Stores the
 * fingerprint of the deployment's secret on the connection. May be repeated. `lease` is the
 * `webhook_try_at` that this caller has set. If another process has changed it, the order of the
 * registrations is unknown, so the sweep registers the webhook again.
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
  await db.query({ tenant }, noteRegistration, {
    id,
    webhookId,
    fingerprint: fingerprintOf(secret),
    lease,
  });
  return { ok: true, webhookId };
}
