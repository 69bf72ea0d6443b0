import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, column, leaseSql, newId, statement } from '@parley/db';
import { copyBlob } from '../media/blobs';
import { findSender } from './conversation';
import { retryKeySql } from './message-keys';

export type RetriedMessage =
  /** `id`: the message itself or its replacement, which is sent or answered within seconds. */
  | { ok: true; id: string; direction: 'inbound' | 'outbound' }
  | { ok: false; reason: 'not_found' }
  /** `id`: the message itself, or the replacement that an earlier retry has created. */
  | { ok: false; reason: 'not_failed'; id: string; status: string }
  /** A person sent it from the phone itself. */
  | { ok: false; reason: 'from_phone' }
  /** The contact may have received it: sending it again requires `anyway`. */
  | { ok: false; reason: 'in_doubt' }
  /** Its number is no longer connected, and the number to send from is ambiguous. */
  | { ok: false; reason: 'no_sender'; message: string };

/**
 * Retries a failed message: an outbound one is sent, an inbound one is answered. A message that the
 * provider may have seen is not changed (docs/adr/0022): one new message with the same content
 * replaces it, regardless of the number of retries.
 */
export const retryMessage = (
  db: Db | Queryable,
  scope: Scope,
  id: string,
  options: { anyway: boolean },
): Promise<RetriedMessage> =>
  'transaction' in db
    ? db.transaction((tx) => retry(tx, scope, id, options))
    : retry(db, scope, id, options);

const lockMessage = statement(
  'lock-message',
  `select id, direction, connection_id as "connectionId", message_id as "messageId", contact, status, origin from messages
   where tenant = $tenant and environment = $environment::"Environment" and (id = $id or message_id = $id)
   order by id = $id desc limit 1 for update`,
  {
    id: column.text,
    direction: column.oneOf<'inbound' | 'outbound'>('MessageDirection'),
    connectionId: column.text.nullable,
    messageId: column.text.nullable,
    contact: column.text,
    status: column.text,
    origin: column.text.nullable,
  },
);

const reopen = statement(
  'retry-message',
  `update messages set status = $status, connection_id = $connectionId, attempts = 0, error = null, ${leaseSql.release},
                       sent_at = case when direction = 'inbound' then sent_at end,
                       updated_at = now()
   where tenant = $tenant and id = $id`,
);

async function retry(
  tx: Queryable,
  scope: Scope,
  id: string,
  options: { anyway: boolean },
): Promise<RetriedMessage> {
  const [message] = (await tx.query(scope, lockMessage, { environment: scope.environment, id }))
    .rows;
  if (message === undefined) return { ok: false, reason: 'not_found' };
  const { direction, status } = message;
  if (message.origin === 'phone') return { ok: false, reason: 'from_phone' };
  const isInDoubt = direction === 'outbound' && status === 'unknown';
  if (status !== 'failed' && !isInDoubt)
    return { ok: false, reason: 'not_failed', id: message.id, status };
  if (isInDoubt && !options.anyway) return { ok: false, reason: 'in_doubt' };
  let { connectionId } = message;
  if (connectionId === null) {
    const found = await findSender(tx, scope, { contact: message.contact });
    if (!found.ok) return { ok: false, reason: 'no_sender', message: found.message };
    ({ connectionId } = found.sender);
  }
  if (direction === 'outbound' && (isInDoubt || message.messageId !== null)) {
    const { rows } = await tx.query(scope, copy, {
      id: message.id,
      newId: newId('wam'),
      connectionId,
    });
    const copied = rows[0]!;
    if (copied.isNew) await copyBlob(tx, scope, message.id, copied.id);
    // An earlier retry has created the replacement: retry that one.
    return copied.isNew
      ? { ok: true, id: copied.id, direction }
      : retry(tx, scope, copied.id, options);
  }
  const values = {
    id: message.id,
    status: direction === 'inbound' ? 'received' : 'queued',
    connectionId,
  };
  await tx.query(scope, reopen, values);
  return { ok: true, id: message.id, direction };
}

const copy = statement(
  'copy-message',
  `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, media_url,
                         payload, thread_id, status, idempotency_key, updated_at)
   select $newId, tenant, environment, $connectionId, direction, contact, type, text, media_url, payload, thread_id,
     'queued',
          ${retryKeySql('id')}, now()
   from messages where tenant = $tenant and id = $id
   on conflict (tenant, environment, idempotency_key) do update set updated_at = messages.updated_at
   returning id, id = $newId as "isNew"`,
  { id: column.text, isNew: column.bool },
);
