import { randomBytes } from 'node:crypto';
import { type JsonObject, reportRefusal } from '@parley/contracts';
import { type Db, type Queryable, type RowOf } from '@parley/db';
import {
  claimByTenant,
  column,
  leaseSql,
  lockKey,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';

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
  /**
   * Identifies the claim, not the process, which may claim the message again before its earlier
   * work on it has ended.
   */
  owner: column.text,
};
const claimedMessage = {
  ...waitingMessage,
  isExcess: column.bool,
  /** Three processes in a row have ended while they were answering it. */
  hasEndedProcesses: column.bool,
};
const joinedMessage = { id: column.text, payload: column.jsonb<JsonObject>() };

/**
 * An inbound message that this process is answering. `joined`: later ones that its turn answers
 * too, in the order of sending.
 */
export type WaitingMessage = RowOf<typeof waitingMessage> & {
  joined: RowOf<typeof joinedMessage>[];
  hasEndedProcesses: boolean;
};
type Claim = Pick<WaitingMessage, 'tenant' | 'id' | 'owner'>;

const conversation = { tenant: column.int4, connectionId: column.text, contact: column.text };
export type Conversation = RowOf<typeof conversation>;

/**
 * Renewed every second. After it another process may claim the message, which a stalled process
 * detects when it writes.
 */
const leaseSeconds = 4;

/**
 * The error of a message whose lease has expired: the process that was answering it has
 * ended or stalled.
 */
const interrupted = { once: 'the process ended', twice: 'the process ended again' };

/** Time that an excess message waits for others, which are answered with it. */
const joinSeconds = 10;
/** Maximum messages, and characters of their texts, that one turn answers. */
const maxJoined = { messages: 500, characters: 32_000 };

const isWaiting =
  "tenant = $tenant and connection_id = $connectionId and contact = $contact and direction = 'inbound'";

// `is_excess`: within the minute before the message, its contact sent as many others as are
// answered alone. `joined` leaves out what a running turn answers: a message that was sent earlier
// can arrive later than it.
const claim = statement(
  'claim-answer',
  `with first as (
     select id, status, error, lease_until, created_at, sent_at, attempts = 0 and (
         select count(*) from (select from messages p
           where p.tenant = $tenant and p.environment = m.environment and p.contact = $contact
             and p.direction = 'inbound'
             and p.status <> 'stored' and p.created_at > m.created_at - interval '1 minute'
             and (p.created_at, p.id) < (m.created_at, m.id) limit $perMinute) earlier) >= $perMinute as is_excess
     from messages m where ${isWaiting} and status in ('received', 'answering')
     order by sent_at, id limit 1),
   due as (select * from first where ${leaseSql.isFree()}
     and (not is_excess or created_at <= now() - interval '${joinSeconds} seconds')),
   postponed as (
     update messages set lease_until = first.created_at + interval '${joinSeconds} seconds' from first
     where messages.tenant = $tenant and messages.id = first.id and ${leaseSql.isFree('first.')}
       and not exists (select from due)),
   joined as (
     update messages set answered_with = due.id from due
     where messages.tenant = $tenant and messages.id in (
       select id from (select id, row_number() over waiting as count, sum(length(coalesce(text, ''))) over waiting as characters
         from messages where ${isWaiting} and status = 'received' and attempts = 0 and answered_with is null
         window waiting as (order by sent_at, id)) w
       where count <= ${maxJoined.messages} and characters <= ${maxJoined.characters})
     and due.is_excess and messages.id <> due.id)
   update messages m set status = 'answering', lease_owner = $owner, lease_until = ${leaseSql.until(leaseSeconds)},
                         attempts = m.attempts + 1, updated_at = now(),
                         error = case when due.status <> 'answering' then m.error
                                      when due.error = '${interrupted.once}' then '${interrupted.twice}'
                                      else '${interrupted.once}' end
   from due, channel_connections c
   where m.tenant = $tenant and m.id = due.id and c.id = m.connection_id
   returning m.id, ${scopeColumns('m.')}, m.connection_id as "connectionId",
             c.agent_slug as "agentSlug", c.router_slug as "routerSlug", c.contact_type as "contactType",
             m.contact, m.message_id as "messageId", m.payload, m.attempts, m.lease_owner as owner, due.is_excess as "isExcess",
             due.status = 'answering' and coalesce(due.error, '') = '${interrupted.twice}' as "hasEndedProcesses"`,
  claimedMessage,
);

const countWaiting = statement(
  'waiting-messages',
  `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as lag
   from messages where direction = 'inbound' and status in ('received', 'answering') and status = 'received'`,
  { waiting: column.int4, lag: column.float8 },
);

/** The number of messages that no turn answers yet, and the age of the oldest in seconds. */
export const waitingMessages = async (db: Queryable) =>
  (await db.acrossTenants('metrics', countWaiting)).rows;

const readJoined = statement(
  'joined-messages',
  `select id, payload from messages
   where ${isWaiting} and status = 'received' and answered_with = $id order by sent_at, id`,
  joinedMessage,
);

/**
 * Claims the first unanswered message of a conversation, in the order of sending. Returns null if
 * no message waits, or if another process is answering the message; that process then continues
 * with the rest of the conversation. When a contact has sent `perMinute` messages within a
 * minute, the next ones wait for 10 s and are then claimed together with all that wait, so no
 * message is dropped and the contact causes few turns. The first claim decides which; later
 * attempts have the same.
 */
export async function claimNext(
  db: Db,
  waiting: Conversation,
  perMinute = 20,
): Promise<WaitingMessage | null> {
  const { connectionId, contact } = waiting;
  const owner = randomBytes(9).toString('base64url');
  return db.transaction(async (tx) => {
    await tx.query(waiting, lockKey, { key: `answer:${connectionId}:${contact}` });
    const [claimed] = (await tx.query(waiting, claim, { connectionId, contact, owner, perMinute }))
      .rows;
    if (claimed === undefined) return null;
    const { isExcess, ...message } = claimed;
    if (!isExcess && message.attempts === 1) return { ...message, joined: [] };
    const { rows } = await tx.query(waiting, readJoined, { connectionId, contact, id: message.id });
    if (isExcess) tx.afterCommit(() => reportRefusal('messages_per_contact', 1 + rows.length));
    return { ...message, joined: rows };
  });
}

const renew = statement(
  'renew-answers',
  `update messages set lease_until = ${leaseSql.until(leaseSeconds)}
   where tenant = $tenant and id = any($ids) and status = 'answering' and lease_owner = any($owners)`,
);

/** Renews the leases of messages that this process is answering. */
export async function renewClaims(db: Queryable, claims: Iterable<Claim>): Promise<void> {
  for (const [tenant, held] of Map.groupBy(claims, (claim) => claim.tenant))
    await db.query({ tenant }, renew, {
      ids: held.map(({ id }) => id),
      owners: held.map(({ owner }) => owner),
    });
}

export type AnswerEnd = {
  status: 'answered' | 'stored' | 'failed';
  error: string | null;
  threadId: string | null;
};

const finish = statement(
  'finish-answer',
  `update messages set status = $status, error = $error, thread_id = coalesce($threadId, thread_id),
     ${leaseSql.release},
                       updated_at = now()
   where ${leaseSql.isHeld('answering')}`,
);

const finishJoined = statement(
  'finish-joined-answers',
  `update messages set status = $status, error = $error, thread_id = coalesce($threadId, thread_id),
     ${leaseSql.release}, updated_at = now()
   where tenant = $tenant and id = any($ids) and status = 'received' and answered_with = $id`,
);

/**
 * Stores the result of answering a message and those joined with it. Returns false if this claim
 * has lost the lease: the message is another's, or waits again.
 */
export async function finishMessage(
  db: Queryable,
  message: WaitingMessage,
  { status, error, threadId }: AnswerEnd,
): Promise<boolean> {
  const { id, owner, joined } = message;
  const isOwner =
    (await db.query(message, finish, { id, owner, status, error, threadId })).rowCount === 1;
  if (isOwner && joined.length > 0)
    await db.query(message, finishJoined, {
      ids: joined.map((one) => one.id),
      id,
      status,
      error,
      threadId,
    });
  return isOwner;
}

const hold = statement(
  'hold-answer',
  `select true as held from messages where ${leaseSql.isHeld('answering')} for update`,
  {
    held: column.bool,
  },
);

/**
 * Whether this claim still has the message, which no other can then take until the end of
 * the transaction.
 */
export async function holdClaim(tx: Queryable, { tenant, id, owner }: Claim): Promise<boolean> {
  return (await tx.query({ tenant }, hold, { id, owner })).rows.length > 0;
}

const putBack = statement(
  'postpone-answer',
  `update messages set status = 'received', error = $error, updated_at = now(), ${leaseSql.postpone('$afterMs')}
   where ${leaseSql.isHeld('answering')}`,
);

/** Postpones a message to a later attempt. The conversation's following messages wait for it. */
export async function postpone(
  db: Queryable,
  { tenant, id, owner }: Claim,
  error: string,
  afterMs: number,
): Promise<void> {
  await db.query({ tenant }, putBack, { id, owner, error, afterMs });
}

const isPending =
  "direction = 'inbound' and status in ('received', 'answering') and connection_id is not null";
const conversationsSql = (
  isDue: string,
): string => `select tenant, connection_id as "connectionId", contact from messages m
     where tenant = $tenant and ${isPending} and ${isDue}
       and (select id = m.id from messages where tenant = $tenant and connection_id = m.connection_id
              and contact = m.contact and ${isPending} order by sent_at, id limit 1)
     order by ${leaseSql.dueSince}, id limit $limit offset $offset`;
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

/**
 * Claims the first message of the tenant's conversation that has waited for the longest time; null
 * when none is due.
 */
export async function claimDue(
  db: Db,
  tenant: number,
  perMinute?: number,
): Promise<WaitingMessage | null> {
  const { rows } = await db.query({ tenant }, dueConversations, { limit: candidates, offset: 0 });
  for (const due of rows) {
    const message = await claimNext(db, due, perMinute);
    if (message !== null) return message;
  }
  return null;
}
