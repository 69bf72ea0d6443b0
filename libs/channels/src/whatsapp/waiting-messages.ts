import type { JsonObject } from '@parley/contracts';
import { type Db, type Queryable, type RowOf } from '@parley/db';
import { claimByTenant, column, leaseSql, lockKey, scopeColumns, scopeRow, statement } from '@parley/db';
import type { MessageOfTenant } from './outbox';

const waitingMessage = {
  id: column.text,
  ...scopeRow,
  connectionId: column.text,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  /** Entity type of the connection's contacts. */
  contactType: column.text.nullable,
  contact: column.text,
  /** Never null in inbound messages. */
  messageId: column.text,
  payload: column.jsonb<JsonObject>(),
  attempts: column.int4,
};

/** An inbound message that this process is answering. */
export type WaitingMessage = RowOf<typeof waitingMessage>;

const conversation = { tenant: column.int4, connectionId: column.text, contact: column.text };
/** `tenant` is absent in a job of an earlier version. */
export type Conversation = Omit<RowOf<typeof conversation>, 'tenant'> & { tenant?: number };

/** Renewed every second. After it another process may claim the message, which a stalled process detects when it writes. */
const leaseSeconds = 4;

const claim = statement(
  'claim-answer',
  `with first as (
     select id, lease_until from messages
     where tenant = $1 and connection_id = $2 and contact = $3 and direction = 'inbound'
       and status in ('received', 'answering')
     order by sent_at, id limit 1)
   update messages m set status = 'answering', lease_owner = $4, lease_until = ${leaseSql.until(leaseSeconds)},
                         attempts = m.attempts + 1, updated_at = now()
   from first, channel_connections c
   where m.tenant = $1 and m.id = first.id and c.id = m.connection_id and ${leaseSql.isFree('first.')}
   returning m.id, ${scopeColumns('m.')}, m.connection_id as "connectionId",
             c.agent_slug as "agentSlug", c.router_slug as "routerSlug", c.contact_type as "contactType",
             m.contact, m.message_id as "messageId", m.payload, m.attempts`,
  waitingMessage,
);

const tenantOfConnection = statement('tenant-of-connection', 'select tenant from channel_connections where id = $1', {
  tenant: column.int4,
});

/**
 * Claims the first unanswered message of a conversation, in the order of sending. Returns null if no message waits, or if
 * another process is answering the message; that process then continues with the rest of the conversation.
 */
export async function claimNext(
  db: Db,
  { tenant: known, connectionId, contact }: Conversation,
  owner: string,
): Promise<WaitingMessage | null> {
  const [tenant] =
    known === undefined
      ? (await db.acrossTenants('due work', tenantOfConnection, [connectionId])).rows
      : [{ tenant: known }];
  if (tenant === undefined) return null;
  return db.transaction(async (tx) => {
    await tx.query(tenant, lockKey, [`answer:${connectionId}:${contact}`]);
    return (await tx.query(tenant, claim, [tenant.tenant, connectionId, contact, owner])).rows[0] ?? null;
  });
}

const renew = statement(
  'renew-answers',
  `update messages set lease_until = ${leaseSql.until(leaseSeconds)}
   where tenant = $1 and id = any($2) and status = 'answering' and lease_owner = $3`,
);

/** Renews the leases of messages that this process is answering. */
export async function renewClaims(db: Queryable, messages: Iterable<MessageOfTenant>, owner: string): Promise<void> {
  for (const [tenant, held] of Map.groupBy(messages, (message) => message.tenant))
    await db.query({ tenant }, renew, [tenant, held.map(({ id }) => id), owner]);
}

export type AnswerEnd = { status: 'answered' | 'stored' | 'failed'; error: string | null; threadId: string | null };

const finish = statement(
  'finish-answer',
  `update messages set status = $4, error = $5, thread_id = coalesce($6, thread_id), ${leaseSql.release},
                       updated_at = now()
   where ${leaseSql.isHeld('answering')}`,
);

/** Stores the result of answering a message. Returns false if this process has lost the lease and must not continue. */
export async function finishMessage(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  end: AnswerEnd,
): Promise<boolean> {
  const values = [message.tenant, message.id, owner, end.status, end.error, end.threadId];
  return (await db.query(message, finish, values)).rowCount === 1;
}

const putBack = statement(
  'postpone-answer',
  `update messages set status = 'received', error = $4, updated_at = now(), ${leaseSql.postpone('$5')}
   where ${leaseSql.isHeld('answering')}`,
);

/** Postpones a message to a later attempt. The conversation's following messages wait for it. */
export async function postpone(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  error: string,
  afterMs: number,
): Promise<void> {
  await db.query(message, putBack, [message.tenant, message.id, owner, error, afterMs]);
}

const isPending = "direction = 'inbound' and status in ('received', 'answering') and connection_id is not null";
const conversationsSql = (
  isDue: string,
): string => `select tenant, connection_id as "connectionId", contact from messages m
     where tenant = $1 and ${isPending} and ${isDue}
       and (select id = m.id from messages where tenant = $1 and connection_id = m.connection_id
              and contact = m.contact and ${isPending} order by sent_at, id limit 1)
     order by ${leaseSql.dueSince}, id limit $2 offset $3`;
const waitingConversations = {
  tenants: leaseSql.tenants('waiting-tenants', { table: 'messages', where: isPending }),
  due: statement('waiting-conversations', conversationsSql(leaseSql.isOverdue), conversation),
};

/** Finds conversations whose first unanswered message is due and not being answered. */
export const findWaiting = (db: Queryable, limit: number): Promise<RowOf<typeof conversation>[]> =>
  claimByTenant(db, waitingConversations, limit);

const dueConversations = statement(
  'due-conversations',
  conversationsSql(`${leaseSql.dueSince} <= now()`),
  conversation,
);
/** Other workers may claim the first of these conversations at the same time. */
const candidates = 8;

/** Claims the first message of the tenant's conversation that has waited for the longest time; null when none is due. */
export async function claimDue(db: Db, tenant: number, owner: string): Promise<WaitingMessage | null> {
  const { rows } = await db.query({ tenant }, dueConversations, [tenant, candidates, 0]);
  for (const due of rows) {
    const message = await claimNext(db, due, owner);
    if (message !== null) return message;
  }
  return null;
}
