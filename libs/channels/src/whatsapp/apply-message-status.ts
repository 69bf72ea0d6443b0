import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { applyKeptStatus, markSent, statusKeyOf, statusRanks } from './outbox';
import { readStatus } from './read-inbound';
import { isFromPhone } from './store-phone-reply';

const namedMessage = statement(
  'named-outbound-message',
  `select id from messages
   where tenant = $tenant and connection_id = $connectionId and message_id = $messageId and direction = 'outbound'`,
  { id: column.text },
);

/**
 * Stores a status and applies it to its message. A status may arrive before the message's id is
 * known: it is then applied by `markSent`. `isKnown`: the message was found.
 */
export async function applyMessageStatus(
  db: Queryable,
  scope: Scope,
  { connectionId, eventType, item }: { connectionId: string; eventType: string; item: JsonObject },
): Promise<{ ok: true; isKnown: boolean } | { ok: false; reason: string }> {
  const update = readStatus(item, eventType);
  if (update === null) return { ok: false, reason: 'the body has no status of a message' };
  const { messageId, status, error, reference, to, text } = update;
  const key = statusKeyOf(connectionId, messageId);
  await keepStatus(db, 'kapso', { externalId: key, status, rank: statusRanks[status], error });
  const [named] = (await db.query(scope, namedMessage, { connectionId, messageId })).rows;
  if (named !== undefined) {
    await applyKeptStatus(db, { ...scope, ...named }, messageId, key);
    return { ok: true, isKnown: true };
  }
  // A message typed in the phone's app is never one of ours, even if the text and the
  // recipient are the same.
  if (isFromPhone(item)) return { ok: true, isKnown: false };
  const [unnamed] = (await db.query(scope, unnamedMessage, { connectionId, reference, to, text }))
    .rows;
  if (unnamed !== undefined) await markSent(db, { ...scope, ...unnamed, connectionId }, messageId);
  return { ok: true, isKnown: unnamed !== undefined };
}

/**
 * Finds the message of a status by its reference, or by recipient and text, while the provider's
 * id is not stored.
 */
const unnamedMessage = statement(
  'unnamed-message',
  `select id from messages
   where tenant = $tenant and connection_id = $connectionId and direction = 'outbound' and message_id is null
     and (id = $reference or ($reference::text is null and status in ('sending', 'unknown') and payload->>'to' = $to
       and text = $text))
   order by id limit 1`,
  { id: column.text },
);

const keep = statement(
  'keep-status',
  `insert into provider_statuses as s (provider, external_id, status, rank, error, updated_at)
   values ($provider, $externalId, $status, $rank, $error, now())
   on conflict (provider, external_id) do update
     set status = excluded.status, rank = excluded.rank, error = coalesce(excluded.error, s.error),
         updated_at = excluded.updated_at
     where s.rank < excluded.rank`,
);

/** Stores the status of a message or e-mail, unless one of the same or a higher rank is stored. */
export async function keepStatus(
  db: Queryable,
  provider: string,
  {
    externalId,
    status,
    rank,
    error,
  }: { externalId: string; status: string; rank: number; error: string | null },
): Promise<void> {
  await db.acrossTenants('inbound webhook', keep, { provider, externalId, status, rank, error });
}
