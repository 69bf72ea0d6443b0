import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const messageView = {
  id: column.text,
  messageId: column.text.nullable,
  direction: column.oneOf<'inbound' | 'outbound'>('MessageDirection'),
  type: column.text,
  text: column.text.nullable,
  mediaUrl: column.text.nullable,
  status: column.text,
  error: column.text.nullable,
  /** Unix milliseconds. */
  sentAt: column.float8.nullable,
  createdAt: column.float8,
};
export type MessageView = RowOf<typeof messageView>;

const columns = `id, message_id as "messageId", direction, type, text, media_url as "mediaUrl", status, error,
  floor(extract(epoch from sent_at) * 1000)::float8 as "sentAt",
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"`;

const lastMessages = statement(
  'read-conversation',
  `select ${columns} from messages
   where tenant = $tenant and environment = $environment::"Environment" and contact = $contact
   order by created_at desc, id desc limit $limit`,
  messageView,
);

/** Reads the last messages with a contact, oldest first. */
export async function readConversation(
  db: Queryable,
  scope: Scope,
  contact: string,
  limit: number,
): Promise<MessageView[]> {
  const { rows } = await db.query(scope, lastMessages, {
    environment: scope.environment,
    contact,
    limit,
  });
  return rows.reverse();
}

const messageById = statement(
  'read-message',
  `select ${columns} from messages
   where tenant = $tenant and environment = $environment::"Environment" and (id = $id or message_id = $id)
     and ($contact::text is null or contact = $contact) limit 1`,
  messageView,
);

/**
 * Reads a message, of one contact if given, by our id or the provider's id; null when
 * it does not exist.
 */
export async function readMessage(
  db: Queryable,
  scope: Scope,
  id: string,
  contact?: string,
): Promise<MessageView | null> {
  return (
    (await db.query(scope, messageById, { environment: scope.environment, id, contact })).rows[0] ??
    null
  );
}

const recentInbound = statement(
  'window-ends-at',
  `select created_at + interval '24 hours' as "endsAt" from messages
   where tenant = $tenant and environment = $environment::"Environment" and contact = $contact
     and connection_id = $connectionId
     and direction = 'inbound' and created_at > now() - interval '24 hours'
     and payload #>> '{message,kapso,origin}' is distinct from 'history_sync'
   order by created_at desc limit 1`,
  { endsAt: column.timestamptz },
);

/**
 * Until when free text may be sent to a contact: 24 hours from the contact's last message. Null
 * when it may not. The result is approximate; the provider makes the final check. Imported
 * history does not count.
 */
export async function windowEndsAt(
  db: Queryable,
  scope: Scope,
  { contact, connectionId }: { contact: string; connectionId: string },
): Promise<Date | null> {
  const values = { environment: scope.environment, contact, connectionId };
  return (await db.query(scope, recentInbound, values)).rows[0]?.endsAt ?? null;
}

const sender = {
  connectionId: column.text,
  /** Never null: only connected numbers are selected. */
  phoneNumberId: column.text,
  phoneNumber: column.text.nullable,
  /** Entity type of the contacts. */
  contactType: column.text.nullable,
};
export type Sender = RowOf<typeof sender>;

const connectedNumbers = statement(
  'find-sender',
  `select c.id as "connectionId", c.phone_number_id as "phoneNumberId", c.phone_number as "phoneNumber",
          c.contact_type as "contactType",
          c.id = (select m.connection_id from messages m
                  where m.tenant = $tenant and m.environment = $environment::"Environment" and m.contact = $contact
                    and m.connection_id is not null order by m.created_at desc, m.id desc limit 1) as "isLast"
   from channel_connections c
   where c.tenant = $tenant and c.environment = $environment::"Environment" and c.status = 'connected'
   order by c.created_at`,
  /** `isLast` is null when no message of the contact has a connection. */
  { ...sender, isLast: column.bool.nullable },
);

/**
 * Finds the number to send from: `from`, else the number of the contact's last message, else the
 * only connected number.
 */
export async function findSender(
  db: Queryable,
  scope: Scope,
  { from, contact }: { from?: string; contact: string },
): Promise<{ ok: true; sender: Sender } | { ok: false; message: string }> {
  const { rows } = await db.query(scope, connectedNumbers, {
    environment: scope.environment,
    contact,
  });
  const digits = from?.replace(/\D/g, '');
  const named = rows.filter(
    (row) =>
      from === row.connectionId ||
      from === row.phoneNumberId ||
      (digits !== '' && digits === row.phoneNumber),
  );
  if (from !== undefined && named[0] === undefined)
    return { ok: false, message: `No WhatsApp number "${from}" is connected` };
  const chosen =
    named[0] ?? rows.find(({ isLast }) => isLast) ?? (rows.length === 1 ? rows[0] : undefined);
  if (chosen !== undefined) return { ok: true, sender: chosen };
  if (rows.length === 0)
    return { ok: false, message: 'No WhatsApp number is connected in this environment' };
  const numbers = rows.map((row) => row.phoneNumber ?? row.phoneNumberId).join(', ');
  return {
    ok: false,
    message: `Several WhatsApp numbers are connected, choose one with "from": ${numbers}`,
  };
}
