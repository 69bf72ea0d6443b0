import { newId } from '@parley/db';
import type { World } from '../create-test-api';
import { insertDefinitions } from './definitions';
import type { Prepare } from './sample';

/** Creates a connection with a message of a contact that has a picture. */
export async function message(world: World, { status = 'failed', direction = 'outbound' } = {}) {
  const { db, scope } = world;
  const connectionId = await connection(world);
  const id = newId('wam');
  const contact = `1555${String(scope.tenant).padStart(7, '0')}`;
  const of = [scope.tenant, scope.environment];
  await db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text, payload, status, updated_at)
     values ($1, $2, $3::"Environment", $4, $5::"MessageDirection", null, $6, 'image', 'ñ', '{}', $7, now())`,
    [id, ...of, connectionId, direction, contact, status],
  );
  await db.pool.query(
    `insert into blobs (id, tenant, environment, status, filename, content_type, bytes, updated_at)
     values ($1, $2, $3::"Environment", 'ready', 'ñ"''().jpg', 'image/jpeg', '\\xffd8ff', now())`,
    [id, ...of],
  );
  await db.pool.query(
    `insert into contact_aliases (tenant, environment, channel, alias, contact_id)
     values ($1, $2::"Environment", 'whatsapp', $3, $3) on conflict do nothing`,
    [...of, contact],
  );
  return { id, contact, connectionId };
}

async function connection({ db, scope, api }: World): Promise<string> {
  const id = newId('conn');
  api.kapso.numbers[id] = '+1 555-123-4567';
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, phone_number, status, agent_slug, updated_at)
     values ($1, $2, $3::"Environment", $1, '15551234567', 'connected', 'helper', now())`,
    [id, scope.tenant, scope.environment],
  );
  return id;
}

export async function email({ db, scope }: World, status = 'failed'): Promise<string> {
  const id = newId('email');
  await db.pool.query(
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload, updated_at)
     values ($1, $2, $3::"Environment", $1, 'a@b.cl', '{c@d.cl}', 'ñ', $4, '{}', now())`,
    [id, scope.tenant, scope.environment, status],
  );
  return id;
}

const aMessage: Prepare = async (world) => ({ params: { id: (await message(world)).id } });
const anEmail: Prepare = async (world) => ({ params: { id: await email(world) } });

export const messageSamples = {
  async listChannelMessages(world) {
    await message(world);
    return { query: { status: 'failed', direction: 'outbound' } };
  },
  getChannelMessage: aMessage,
  getMessageMedia: aMessage,
  retryChannelMessage: async (world) => ({ ...(await aMessage(world)), body: {} }),
  async listEmails(world) {
    await email(world);
    return { query: { status: 'failed' } };
  },
  getEmail: anEmail,
  retryEmail: async (world) => ({ ...(await anEmail(world)), body: { anyway: false } }),
  getContact: async (world) => ({ params: { id: (await message(world)).contact } }),
  async listChannels(world) {
    await connection(world);
    return {};
  },
  async connectChannel({ db, scope }) {
    await db.pool.query('delete from channel_connections where tenant = $1', [scope.tenant]);
    return {
      body: { agent: await insertDefinitions({ db, scope }), contactType: null, name: 'Shop' },
    };
  },
  disconnectChannel: async (world) => ({ params: { id: await connection(world) } }),
  updateChannel: async (world) => ({
    params: { id: await connection(world) },
    body: { contactType: null },
  }),
  listChannelTemplates: async (world) => ({ params: { id: await connection(world) } }),
} satisfies Record<string, Prepare>;
