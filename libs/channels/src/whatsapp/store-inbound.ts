import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, type Queryable, column, newId, statement } from '@parley/db';
import { addPendingBlob } from '../media/blobs';
import { type MergeThreads, resolveContact } from './contacts';
import { readInbound } from './read-inbound';

export type StoredInbound =
  { ok: true; contact: string; isToBeAnswered: boolean } | { ok: false; reason: string };

const store = statement(
  'store-inbound-message',
  `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text,
                         media_url, payload, status, sent_at, updated_at)
   values ($id, $tenant, $environment::"Environment", $connectionId, 'inbound', $messageId, $contact, $type, $text,
     $mediaUrl, $payload::jsonb, $status, $sentAt, now())
   on conflict (connection_id, message_id, tenant) do update
     set status = 'received', attempts = 0, error = null, lease_until = null, answered_with = null,
         updated_at = excluded.updated_at
     where messages.status = 'failed' and messages.direction = 'inbound'
   returning id`,
  { id: column.text },
);

/**
 * Stores an inbound message, once per id. A message that needs an answer is `received`
 * until it is answered. When a delivery is replayed, a message whose answer failed gets all
 * of its attempts again.
 */
export async function storeInbound(
  db: Db,
  scope: Scope,
  connectionId: string,
  item: JsonObject,
  mergeThreads: MergeThreads,
): Promise<StoredInbound> {
  const message = readInbound(item);
  if (message === null) return { ok: false, reason: 'the body has no message of a contact' };
  const contact = await resolveContact(db, scope, message.identity, mergeThreads);
  if (contact === null) return { ok: false, reason: 'the message names no sender' };
  const isToBeAnswered = message.handling !== 'store';
  const { mediaUrl: url, filename, isHistory } = message;
  const hasFile = url !== null && !isHistory;
  const write = async (tx: Queryable) => {
    const { rows } = await tx.query(scope, store, {
      id: newId('wam'),
      environment: scope.environment,
      connectionId,
      messageId: message.messageId,
      contact,
      type: message.type,
      text: message.text,
      mediaUrl: url,
      payload: JSON.stringify(item),
      status: isToBeAnswered ? 'received' : 'stored',
      sentAt: new Date(message.sentAtMs),
    });
    if (rows[0] !== undefined && hasFile)
      await addPendingBlob(tx, scope, { messageId: rows[0].id, url, filename });
  };
  await (hasFile ? db.transaction(write) : write(db));
  return { ok: true, contact, isToBeAnswered };
}
