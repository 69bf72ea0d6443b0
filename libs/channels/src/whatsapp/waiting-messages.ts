import type { Environment, JsonObject } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, claimByTenant, column, leaseSql, lockKey, statement } from '@parley/db';
import type { MessageOfTenant } from './outbox';

const waitingMessage = {
  id: column.text,
  organizationId: column.text,
  environment: column.oneOf<Environment>('Environment'),
  connectionId: column.text,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  /** Entity type of the connection's contacts. */
  contactType: column.text.nullable,
  contact: column.text,
  /** Inbound messages always have one. */
  messageId: column.text,
  payload: column.jsonb<JsonObject>(),
  attempts: column.int4,
};

/** A customer's message that this process is answering. */
export type WaitingMessage = RowOf<typeof waitingMessage>;

const conversation = { connectionId: column.text, contact: column.text };
export type Conversation = RowOf<typeof conversation>;

/** Renewed every second; a killed process's message is free again after it, a stalled one finds that out at its next write. */
const leaseSeconds = 4;

const claim = statement(
  'claim-answer',
  `with first as (
     select id, lease_until from messages
     where connection_id = $1 and contact = $2 and direction = 'inbound' and status in ('received', 'answering')
     order by sent_at, id limit 1)
   update messages m set status = 'answering', lease_owner = $3, lease_until = ${leaseSql.until(leaseSeconds)},
                         attempts = m.attempts + 1, updated_at = now()
   from first, channel_connections c
   where m.id = first.id and c.id = m.connection_id and ${leaseSql.isFree('first.')}
   returning m.id, m.organization_id as "organizationId", m.environment, m.connection_id as "connectionId",
             c.agent_slug as "agentSlug", c.router_slug as "routerSlug", c.contact_type as "contactType",
             m.contact, m.message_id as "messageId", m.payload, m.attempts`,
  waitingMessage,
);

/**
 * The next message of a conversation, in the order in which they were sent. Null when there is none, or when the first is
 * being answered elsewhere: whoever does that goes on with the rest.
 */
export function claimNext(
  db: Db,
  { connectionId, contact }: Conversation,
  owner: string,
): Promise<WaitingMessage | null> {
  return db.transaction(async (tx) => {
    await tx.acrossTenants('due work', lockKey, [`answer:${connectionId}:${contact}`]);
    const { rows } = await tx.acrossTenants('due work', claim, [connectionId, contact, owner]);
    return rows[0] ?? null;
  });
}

const renew = statement(
  'renew-answers',
  `update messages set lease_until = ${leaseSql.until(leaseSeconds)}
   where id = any($1) and status = 'answering' and lease_owner = $2`,
);

export async function renewClaims(db: Queryable, ids: string[], owner: string): Promise<void> {
  await db.acrossTenants('due work', renew, [ids, owner]);
}

export type AnswerEnd = { status: 'answered' | 'stored' | 'failed'; error: string | null; threadId: string | null };

const finish = statement(
  'finish-answer',
  `update messages set status = $3, error = $4, thread_id = coalesce($5, thread_id), ${leaseSql.release},
                       updated_at = now()
   where ${leaseSql.isHeld('answering')}`,
);

/** Writes what became of a message. False: this process had lost it, and nothing may follow. */
export async function finishMessage(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  end: AnswerEnd,
): Promise<boolean> {
  const { rowCount } = await db.query(message, finish, [message.id, owner, end.status, end.error, end.threadId]);
  return rowCount === 1;
}

const putBack = statement(
  'postpone-answer',
  `update messages set status = 'received', error = $3, updated_at = now(), ${leaseSql.postpone('$4')}
   where ${leaseSql.isHeld('answering')}`,
);

/** Leaves a message to a later try; the ones behind it wait with it. */
export async function postpone(
  db: Queryable,
  message: MessageOfTenant,
  owner: string,
  error: string,
  afterMs: number,
): Promise<void> {
  await db.query(message, putBack, [message.id, owner, error, afterMs]);
}

const isPending = "direction = 'inbound' and status in ('received', 'answering') and connection_id is not null";
const waitingConversations = {
  tenants: leaseSql.tenants('waiting-tenants', { table: 'messages', where: isPending }),
  due: statement(
    'waiting-conversations',
    `select connection_id as "connectionId", contact from messages m
     where organization_id = $1 and ${isPending} and ${leaseSql.isOverdue}
       and (select id = m.id from messages where organization_id = m.organization_id and connection_id = m.connection_id
              and contact = m.contact and ${isPending} order by sent_at, id limit 1)
     order by ${leaseSql.dueSince}, id limit $2 offset $3`,
    conversation,
  ),
};

/** Conversations whose first message waits without anybody at work on it; the ones behind it have to wait for it. */
export const findWaiting = (db: Queryable, limit: number): Promise<Conversation[]> =>
  claimByTenant(db, waitingConversations, limit);
