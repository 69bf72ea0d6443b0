import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, type Tenant } from '@parley/db';
import {
  claimByTenant,
  column,
  leaseSql,
  newId,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';

export interface NewMessage {
  connectionId: string;
  contact: string;
  type: string;
  /** The text shown to people. */
  text: string | null;
  mediaUrl?: string | null;
  /** The request to the provider without `messaging_product`: recipient, type and content. */
  request: JsonObject;
  threadId?: string | null;
  /** Idempotency key: one message is created per key. */
  key: string;
}

const isNotSent = "messages.status = 'failed' and messages.message_id is null";

const queue = statement(
  'queue-message',
  `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, media_url,
                         payload, thread_id, status, idempotency_key, updated_at)
   values ($id, $tenant, $environment::"Environment", $connectionId, 'outbound', $contact, $type, $text, $mediaUrl,
     $payload::jsonb, $threadId, 'queued', $idempotencyKey, now())
   on conflict (tenant, environment, idempotency_key) do update set
     status = case when ${isNotSent} then 'queued' else messages.status end,
     attempts = case when ${isNotSent} then 0 else messages.attempts end,
     error = case when ${isNotSent} then null else messages.error end,
     connection_id = case when ${isNotSent} then excluded.connection_id else messages.connection_id end
   returning id, id = $id as "isNew"`,
  { id: column.text, isNew: column.bool },
);

/**
 * Adds a message to the outbox, or returns the existing one with the same key. If the existing
 * message is `failed` without the provider's id, it was certainly not sent, and is queued with its
 * full number of attempts.
 */
export async function queueMessage(
  db: Queryable,
  scope: Scope,
  message: NewMessage,
): Promise<{ id: string; isNew: boolean }> {
  const { rows } = await db.query(scope, queue, {
    id: newId('wam'),
    environment: scope.environment,
    connectionId: message.connectionId,
    contact: message.contact,
    type: message.type,
    text: message.text,
    mediaUrl: message.mediaUrl ?? null,
    payload: JSON.stringify(message.request),
    threadId: message.threadId ?? null,
    idempotencyKey: message.key,
  });
  return rows[0]!;
}

/**
 * Lease of the process that sends a message. Longer than the time limit of its calls
 * (docs/adr/0022).
 */
export const leaseSeconds = 30;

const claimedMessage = {
  id: column.text,
  ...scopeRow,
  connectionId: column.text,
  /** Never null: messages are queued for connected numbers only. */
  phoneNumberId: column.text,
  contact: column.text,
  type: column.text,
  text: column.text.nullable,
  request: column.jsonb<JsonObject>(),
  /** Number of attempts, including the current one. */
  attempts: column.int4,
  /** Time since the message was queued. */
  ageMs: column.float8,
  /** `sending`: the lease of an earlier sender has expired, and the message may have been sent. */
  previousStatus: column.oneOf<'queued' | 'sending'>(),
  /**
   * When it may have been sent: from the first claim without a known result to the end
   * of the last claim.
   */
  claimedFrom: column.timestamptz,
  claimedUntil: column.timestamptz,
};
export type ClaimedMessage = RowOf<typeof claimedMessage>;

const claim = statement(
  'claim-message',
  `with due as (
     select m.id, m.status, m.lease_until,
            coalesce(m.sent_at, m.lease_until - interval '${leaseSeconds} seconds') as sent_at
     from messages m
     where m.tenant = $tenant and m.id = $id and m.direction = 'outbound' and m.status in ('queued', 'sending')
       and ${leaseSql.isFree('m.')}
       and (
         select true from messages p where p.tenant = $tenant and p.environment = m.environment
           and p.contact = m.contact and p.direction = 'outbound' and p.status in ('queued', 'sending')
           and p.connection_id is not null and p.id < m.id order by p.id limit 1) is null
     for update)
   update messages m set status = 'sending', lease_owner = $owner, attempts = attempts + 1, updated_at = now(),
                         sent_at = case due.status when 'sending' then due.sent_at end,
                         lease_until = ${leaseSql.until(leaseSeconds)}
   from due, channel_connections c where m.tenant = $tenant and m.id = due.id and c.id = m.connection_id
   returning m.id, ${scopeColumns('m.')}, m.connection_id as "connectionId",
             c.phone_number_id as "phoneNumberId", m.contact, m.type, m.text, m.payload as request, m.attempts,
             extract(epoch from now() - m.created_at)::float8 * 1000 as "ageMs",
             due.status as "previousStatus",
             coalesce(m.sent_at, m.lease_until - interval '${leaseSeconds} seconds') as "claimedFrom",
             case due.status when 'sending' then due.lease_until else m.lease_until end as "claimedUntil"`,
  claimedMessage,
);

/**
 * Marks a message as `sending` before it is sent. Null when another process holds the message, when
 * it is not due, or when an earlier message to the contact is not sent yet.
 */
export const claimMessage = async (db: Queryable, message: MessageOfTenant, owner: string) =>
  (await db.query(message, claim, { id: message.id, owner })).rows[0] ?? null;

export type SendOutcome = 'sent' | 'failed' | 'unknown' | 'later' | 'not_due';

/** The id of a message and its tenant. */
export interface MessageOfTenant extends Tenant {
  id: string;
}

const markMessageSent = statement(
  'mark-message-sent',
  `update messages set message_id = $messageId, sent_at = coalesce(sent_at, now()), error = null,
                       ${leaseSql.release}, updated_at = now(),
                       status = case when status in ('queued', 'sending', 'unknown', 'held') then 'sent' else status end
   where tenant = $tenant and id = $id and message_id is null`,
);

/**
 * Stores the provider's id of an accepted message, and applies a status that arrived earlier. Any
 * process may call it.
 */
export async function markSent(
  db: Queryable,
  message: MessageOfTenant & { connectionId: string },
  messageId: string,
): Promise<SendOutcome> {
  await db.query(message, markMessageSent, { id: message.id, messageId });
  // A separate statement, so that it sees a status whose transaction did not find this message by
  // its id.
  await applyKeptStatus(db, message, messageId, statusKeyOf(message.connectionId, messageId));
  return 'sent';
}

const putMessageBack = statement(
  'put-message-back',
  `update messages set status = 'queued', error = $error, updated_at = now(), ${leaseSql.postpone('$afterMs')},
                       attempts = attempts - case when $isTried then 0 else 1 end
   where ${leaseSql.isHeld('sending')}`,
);

/** Queues a claimed message again. `isTried`: the provider was called, so the attempt counts. */
export async function putBack(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { error, afterMs, isTried }: { error: string; afterMs: number; isTried: boolean },
): Promise<SendOutcome> {
  await db.query(message, putMessageBack, { id: message.id, owner, error, afterMs, isTried });
  return 'later';
}

const giveMessageUp = statement(
  'give-message-up',
  `update messages set status = $status, error = $error, ${leaseSql.release}, updated_at = now()
   where ${leaseSql.isHeld('sending')}`,
);

/** Ends the attempts: a `failed` message was certainly not sent, an `unknown` one may have been. */
export async function giveUp(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { status, error }: { status: 'failed' | 'unknown'; error: string },
): Promise<SendOutcome> {
  await db.query(message, giveMessageUp, { id: message.id, owner, status, error });
  return status;
}

const noteMessageDoubt = statement(
  'note-doubt',
  `update messages set error = $error, updated_at = now(), attempts = attempts - case when $isTried then 0 else 1 end
   where ${leaseSql.isHeld('sending')}`,
);

/**
 * Leaves a message `sending` with an error, until the lease expires. `isTried`: the provider was
 * called, so the attempt counts.
 */
export async function noteDoubt(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { error, isTried }: { error: string; isTried: boolean },
): Promise<SendOutcome> {
  await db.query(message, noteMessageDoubt, { id: message.id, owner, error, isTried });
  return 'later';
}

/**
 * The status of the highest rank is kept, regardless of the order of arrival; `failed` is final.
 */
export const statusRanks = { sent: 1, delivered: 2, read: 3, failed: 4 } as const;

const rankOf = (column: string) =>
  `case ${column} ${Object.entries(statusRanks)
    .map(([status, rank]) => `when '${status}' then ${rank}`)
    .join(' ')} else 0 end`;

/**
 * The key of a message's status in `provider_statuses`. It contains the connection, because an
 * organization with its own account can sign a status with any message id.
 */
export const statusKeyOf = (connectionId: string, messageId: string): string =>
  `${connectionId}:${messageId}`;

const applyKept = statement(
  'apply-kept-status',
  `update messages m set status = s.status, error = coalesce(s.error, m.error), updated_at = now()
   from provider_statuses s
   where s.provider = 'kapso' and s.external_id = $key
     and m.tenant = $tenant and m.id = $id and m.message_id = $messageId and s.rank > ${rankOf('m.status')}`,
);

/** Applies the status that is stored under `key` to the message with this provider's id. */
export async function applyKeptStatus(
  db: Queryable,
  message: MessageOfTenant,
  messageId: string,
  key: string,
): Promise<void> {
  await db.query(message, applyKept, { id: message.id, messageId, key });
}

const isPending =
  "direction = 'outbound' and status in ('queued', 'sending') and connection_id is not null";
const dueMessages = {
  tenants: leaseSql.tenants('due-message-tenants', { table: 'messages', where: isPending }),
  due: statement(
    'due-messages',
    `select id from messages m where tenant = $tenant and ${isPending} and ${leaseSql.isOverdue}
       and (select id = m.id from messages where tenant = $tenant and environment = m.environment
              and contact = m.contact and ${isPending} order by id limit 1)
     order by ${leaseSql.dueSince}, id limit $limit offset $offset`,
    { id: column.text },
  ),
};

/**
 * Finds messages that are due or whose sender's lease has expired: the first of each contact. The
 * process that sends it continues with the contact's following messages.
 */
export async function findDueMessages(db: Queryable, limit: number): Promise<string[]> {
  return (await claimByTenant(db, dueMessages, limit)).map(({ id }) => id);
}

const nextMessage = statement(
  'next-message',
  `select n.id from messages m cross join lateral (
     select id from messages where tenant = $tenant and environment = m.environment and contact = m.contact
       and id > m.id
       and direction = 'outbound' and status = 'queued' and lease_until is null and connection_id is not null
     order by id limit 1) n
   where m.tenant = $tenant and m.id = $id`,
  { id: column.text },
);

/** Finds the next queued message to the same contact; null when there is none. */
export const findNextMessage = async (
  db: Queryable,
  tenant: Tenant,
  id: string,
): Promise<string | null> => (await db.query(tenant, nextMessage, { id })).rows[0]?.id ?? null;

const tenantOfId = statement(
  'tenant-of-outgoing',
  'select tenant from messages where id = $id union all select tenant from emails where id = $id',
  { tenant: column.int4 },
);

/** Finds the tenant of a message or e-mail; null when it has been deleted. */
export const findTenant = async (db: Queryable, id: string): Promise<Tenant | null> =>
  (await db.acrossTenants('due work', tenantOfId, { id })).rows[0] ?? null;
