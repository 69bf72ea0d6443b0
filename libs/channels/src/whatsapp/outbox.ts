import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, type Tenant } from '@parley/db';
import { claimByTenant, column, leaseSql, newId, scopeColumns, scopeRow, statement } from '@parley/db';

export interface NewMessage {
  connectionId: string;
  contact: string;
  type: string;
  /** As people read it. */
  text: string | null;
  mediaUrl?: string | null;
  /** The request to the provider without `messaging_product`: recipient, type and content. */
  request: JsonObject;
  threadId?: string | null;
  /** The same key makes one message. */
  key: string;
}

const isNotSent = "messages.status = 'failed' and messages.message_id is null";

const queue = statement(
  'queue-message',
  `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, media_url,
                         payload, thread_id, status, idempotency_key, updated_at)
   values ($1, $2, $3::"Environment", $4, 'outbound', $5, $6, $7, $8, $9::jsonb, $10, 'queued', $11, now())
   on conflict (tenant, environment, idempotency_key) do update set
     status = case when ${isNotSent} then 'queued' else messages.status end,
     attempts = case when ${isNotSent} then 0 else messages.attempts end,
     error = case when ${isNotSent} then null else messages.error end,
     connection_id = case when ${isNotSent} then excluded.connection_id else messages.connection_id end
   returning id, id = $1 as "isNew"`,
  { id: column.text, isNew: column.bool },
);

/**
 * Puts a message into the outbox; the one that is there already under its key when there is one. One that ended `failed`
 * without the provider's id was certainly not sent, and gets its tries again.
 */
export async function queueMessage(
  db: Queryable,
  scope: Scope,
  message: NewMessage,
): Promise<{ id: string; isNew: boolean }> {
  const { rows } = await db.query(scope, queue, [
    newId('wam'),
    scope.tenant,
    scope.environment,
    message.connectionId,
    message.contact,
    message.type,
    message.text,
    message.mediaUrl ?? null,
    JSON.stringify(message.request),
    message.threadId ?? null,
    message.key,
  ]);
  return rows[0]!;
}

/** How long a claimed message belongs to whoever sends it: longer than the call may take (docs/adr/0022). */
export const leaseSeconds = 30;

const claimedMessage = {
  id: column.text,
  ...scopeRow,
  connectionId: column.text,
  /** Messages are queued for connected numbers, which have one. */
  phoneNumberId: column.text,
  contact: column.text,
  type: column.text,
  text: column.text.nullable,
  request: column.jsonb<JsonObject>(),
  /** With this one. */
  attempts: column.int4,
  /** Since it was made. */
  ageMs: column.float8,
  /** What it was before: `sending` is one whose sender has not been heard of again. */
  before: column.oneOf<'queued' | 'sending'>(),
  /** The stretch in which it may have been sent: since the first claim that did not tell, up to the end of the last. */
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
     where m.tenant = $1 and m.id = $2 and m.direction = 'outbound' and m.status in ('queued', 'sending')
       and ${leaseSql.isFree('m.')}
       and not exists (
         select from messages p where p.tenant = $1 and p.environment = m.environment
           and p.contact = m.contact and p.direction = 'outbound' and p.status in ('queued', 'sending')
           and p.connection_id is not null and p.id < m.id)
     for update)
   update messages m set status = 'sending', lease_owner = $3, attempts = attempts + 1, updated_at = now(),
                         sent_at = case due.status when 'sending' then due.sent_at end,
                         lease_until = ${leaseSql.until(leaseSeconds)}
   from due, channel_connections c where m.tenant = $1 and m.id = due.id and c.id = m.connection_id
   returning m.id, ${scopeColumns('m.')}, m.connection_id as "connectionId",
             c.phone_number_id as "phoneNumberId", m.contact, m.type, m.text, m.payload as request, m.attempts,
             extract(epoch from now() - m.created_at)::float8 * 1000 as "ageMs",
             due.status as before,
             coalesce(m.sent_at, m.lease_until - interval '${leaseSeconds} seconds') as "claimedFrom",
             case due.status when 'sending' then due.lease_until else m.lease_until end as "claimedUntil"`,
  claimedMessage,
);

/**
 * Marks a message as being sent, before it is. Null when somebody else has it, when it is not due, or when an earlier one
 * to the same contact is still to be sent.
 */
export const claimMessage = async (db: Queryable, message: MessageOfTenant, owner: string) =>
  (await db.query(message, claim, [message.tenant, message.id, owner])).rows[0] ?? null;

export type SendOutcome = 'sent' | 'failed' | 'unknown' | 'later' | 'not_due';

/** The id of a message and its tenant. */
export interface MessageOfTenant extends Tenant {
  id: string;
}

const markMessageSent = statement(
  'mark-message-sent',
  `update messages set message_id = $3, sent_at = coalesce(sent_at, now()), error = null,
                       ${leaseSql.release}, updated_at = now(),
                       status = case when status in ('queued', 'sending', 'unknown') then 'sent' else status end
   where tenant = $1 and id = $2 and message_id is null`,
);

/** The provider has taken it; it may have told its status already. Whoever learns the id writes it. */
export async function markSent(
  db: Queryable,
  message: MessageOfTenant & { connectionId: string },
  messageId: string,
): Promise<SendOutcome> {
  await db.query(message, markMessageSent, [message.tenant, message.id, messageId]);
  // In a statement of its own, which sees what the other side has written before it looked for this message.
  // Earlier versions kept a status under the message id alone. Such a row counts only here, where the id has just become
  // known: nobody could name it in advance.
  await applyStatus(db, message, messageId, [statusKeyOf(message.connectionId, messageId), messageId]);
  return 'sent';
}

const putMessageBack = statement(
  'put-message-back',
  `update messages set status = 'queued', error = $4, updated_at = now(), ${leaseSql.postpone('$5')},
                       attempts = attempts - case when $6 then 0 else 1 end
   where ${leaseSql.isHeld('sending')}`,
);

/** Back into the outbox, for later. `isTried`: the provider was asked, so the try counts. */
export async function putBack(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { error, afterMs, isTried }: { error: string; afterMs: number; isTried: boolean },
): Promise<SendOutcome> {
  await db.query(message, putMessageBack, [message.tenant, message.id, owner, error, afterMs, isTried]);
  return 'later';
}

const giveMessageUp = statement(
  'give-message-up',
  `update messages set status = $4, error = $5, ${leaseSql.release}, updated_at = now()
   where ${leaseSql.isHeld('sending')}`,
);

/** The end of it: `failed` is certainly not sent, `unknown` may have been. */
export async function giveUp(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { status, error }: { status: 'failed' | 'unknown'; error: string },
): Promise<SendOutcome> {
  await db.query(message, giveMessageUp, [message.tenant, message.id, owner, status, error]);
  return status;
}

const noteMessageDoubt = statement(
  'note-doubt',
  `update messages set error = $4, updated_at = now(), attempts = attempts - case when $5 then 0 else 1 end
   where ${leaseSql.isHeld('sending')}`,
);

/** The doubt stays on record while its sender's lease lasts. `isTried`: the provider was asked, so the try counts. */
export async function noteDoubt(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  { error, isTried }: { error: string; isTried: boolean },
): Promise<SendOutcome> {
  await db.query(message, noteMessageDoubt, [message.tenant, message.id, owner, error, isTried]);
  return 'later';
}

/** Of all statuses that come for a message the furthest holds, in whatever order they come; `failed` is final. */
export const statusRanks = { sent: 1, delivered: 2, read: 3, failed: 4 } as const;

const rankOf = (column: string) =>
  `case ${column} ${Object.entries(statusRanks)
    .map(([status, rank]) => `when '${status}' then ${rank}`)
    .join(' ')} else 0 end`;

/**
 * The key of a message's status in `provider_statuses`. It contains the connection, because an organization with its own
 * account can sign a status that names any message id.
 */
export const statusKeyOf = (connectionId: string, messageId: string): string => `${connectionId}:${messageId}`;

const applyKeptStatus = statement(
  'apply-kept-status',
  `update messages m set status = s.status, error = coalesce(s.error, m.error), updated_at = now()
   from (select status, rank, error from provider_statuses
         where provider = 'kapso' and external_id = any($4) order by rank desc limit 1) s
   where m.tenant = $1 and m.id = $2 and m.message_id = $3 and s.rank > ${rankOf('m.status')}`,
);

/** Applies the furthest of the statuses that were kept under `keys` to a message that has this id at the provider. */
export async function applyStatus(
  db: Queryable,
  message: MessageOfTenant,
  messageId: string,
  keys: string[],
): Promise<void> {
  await db.query(message, applyKeptStatus, [message.tenant, message.id, messageId, keys]);
}

const isPending = "direction = 'outbound' and status in ('queued', 'sending') and connection_id is not null";
const dueMessages = {
  tenants: leaseSql.tenants('due-message-tenants', { table: 'messages', where: isPending }),
  due: statement(
    'due-messages',
    `select id from messages m where tenant = $1 and ${isPending} and ${leaseSql.isOverdue}
       and (select id = m.id from messages where tenant = $1 and environment = m.environment
              and contact = m.contact and ${isPending} order by id limit 1)
     order by ${leaseSql.dueSince}, id limit $2 offset $3`,
    { id: column.text },
  ),
};

/**
 * Messages that should be sent by now, or whose sender is gone: of each contact the first, as the ones behind it have to
 * wait for it. Whoever sends it goes on with them.
 */
export async function findDueMessages(db: Queryable, limit: number): Promise<string[]> {
  return (await claimByTenant(db, dueMessages, limit)).map(({ id }) => id);
}

const nextMessage = statement(
  'next-message',
  `select n.id from messages m join messages n on n.environment = m.environment and n.contact = m.contact and n.id > m.id
   where m.tenant = $1 and m.id = $2 and n.tenant = $1 and n.direction = 'outbound' and n.status = 'queued'
     and n.lease_until is null and n.connection_id is not null
   order by n.id limit 1`,
  { id: column.text },
);

/** The message that was waiting behind one that is done; null when there is none. */
export const findNextMessage = async (db: Queryable, tenant: Tenant, id: string): Promise<string | null> =>
  (await db.query(tenant, nextMessage, [tenant.tenant, id])).rows[0]?.id ?? null;

const tenantOfId = statement(
  'tenant-of-outgoing',
  'select tenant from messages where id = $1 union all select tenant from emails where id = $1',
  { tenant: column.int4 },
);

/** Whose message or e-mail it is that a job names; null when it is gone. */
export const findTenant = async (db: Queryable, id: string): Promise<Tenant | null> =>
  (await db.acrossTenants('due work', tenantOfId, [id])).rows[0] ?? null;
