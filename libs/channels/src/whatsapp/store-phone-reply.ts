import { type JsonObject, type Scope, objectAt } from '@parley/contracts';
import { type Db, type Queryable, column, newId, statement } from '@parley/db';
import { addPendingBlob } from '../media/blobs';
import { type MergeThreads, resolveContact } from './contacts';
import { readPhoneReply } from './read-inbound';
import { threadKeyOf } from './thread-key';

const store = statement(
  'store-phone-reply',
  `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text,
                         media_url, payload, status, origin, sent_at, updated_at)
   values ($id, $tenant, $environment::"Environment", $connectionId, 'outbound', $messageId, $contact, $type, $text,
           $mediaUrl, $payload::jsonb, 'sent', 'phone', $sentAt, now())
   on conflict (connection_id, message_id, tenant) do nothing
   returning id`,
  { id: column.text },
);

/** What a person wrote from the phone, for the thread of the contact. */
export interface PhoneMessage {
  externalThreadId: string;
  /** The text that people read. */
  text: string;
  channelMessageId: string;
  sentAt: Date;
}

/**
 * Stores a message that a person typed in the phone's own app, or in another program of the same
 * number, once per id, whichever of its deliveries arrives first. `addToThread` runs in the same
 * transaction. False when the item is no such message.
 */
export async function storePhoneReply(
  db: Db,
  scope: Scope,
  { connectionId, item }: { connectionId: string; item: JsonObject },
  mergeThreads: MergeThreads,
  addToThread: (tx: Queryable, scope: Scope, message: PhoneMessage) => Promise<void>,
): Promise<boolean> {
  const message = readPhoneReply(item);
  if (message === null) return false;
  const contact = await resolveContact(db, scope, message.identity, mergeThreads);
  if (contact === null) return false;
  const sentAt = new Date(message.sentAtMs);
  await db.transaction(async (tx) => {
    const { rows } = await tx.query(scope, store, {
      id: newId('wam'),
      environment: scope.environment,
      connectionId,
      messageId: message.messageId,
      contact,
      type: message.type,
      text: message.text,
      mediaUrl: message.mediaUrl,
      payload: JSON.stringify(item),
      sentAt,
    });
    const [stored] = rows;
    if (stored === undefined) return;
    const { mediaUrl: url, filename } = message;
    if (url !== null) await addPendingBlob(tx, scope, { messageId: stored.id, url, filename });
    await addToThread(tx, scope, {
      externalThreadId: threadKeyOf(contact),
      text: message.text ?? `[${message.type}]`,
      channelMessageId: stored.id,
      sentAt,
    });
  });
  return true;
}

/**
 * Whether a delivery is about a message that was sent from the phone itself and not by a
 * call of the API.
 */
export const isFromPhone = (item: JsonObject): boolean =>
  objectAt(objectAt(item.message).kapso).origin === 'business_app';
