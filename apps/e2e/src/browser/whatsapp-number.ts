import { randomInt } from 'node:crypto';
import { messageReceived, phoneNumberId, sign, unique } from '../deliveries';
import type { Tenant } from '../tenant';

/** The id of a number that no other file has: a number belongs to one organization. */
export const newNumberId = (): string =>
  String(randomInt(100_000_000_000_000, 200_000_000_000_000));

/** Connects a number to the agent `shop`. */
export async function connectNumber(tenant: Tenant, numberId: string): Promise<void> {
  await tenant.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, phone_number, status, agent_slug, contact_type, updated_at)
     values ($1, $2, 'development', $3, '15551234567', 'connected', 'shop', 'customer', now())`,
    [`conn_${unique()}`, tenant.scope.tenant, numberId],
  );
}

/** The delivery of a text from a contact to a number. */
export function textTo(
  numberId: string,
  contact: string,
  text: string,
): ReturnType<typeof messageReceived> {
  const { path, body: sampled } = messageReceived(`wamid.${unique()}`, contact, text);
  const body = sampled.replaceAll(phoneNumberId, numberId);
  return {
    path,
    body,
    headers: () => sign(path, Buffer.from(body), { event: 'whatsapp.message.received' }),
  };
}
