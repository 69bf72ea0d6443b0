import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';
import { replyKey, retryKeySql } from './message-keys';

const messageRow = {
  id: column.text,
  /** The provider's id. */
  messageId: column.text.nullable,
  direction: column.oneOf<'inbound' | 'outbound'>('MessageDirection'),
  contact: column.text,
  type: column.text,
  text: column.text.nullable,
  status: column.text,
  attempts: column.int4,
  error: column.text.nullable,
  createdAt: column.timestamptz,
};
export type ChannelMessage = RowOf<typeof messageRow>;

const messagesOfEnvironment = statement(
  'list-channel-messages',
  `select id, message_id as "messageId", direction, contact, type, text, status, attempts, error,
          created_at as "createdAt"
   from messages
   where tenant = $1 and environment = $2::"Environment" and ($3::text is null or status = $3)
     and ($4::text is null or direction = $4::"MessageDirection") and ($5::text is null or contact = $5)
     and ($6::timestamptz is null or (created_at, id) < ($6, $7::text))
   order by created_at desc, id desc limit $8`,
  messageRow,
);

/** Lists inbound and outbound messages, newest first. `contact` is the digits of a number or a scoped id. */
export async function listMessages(
  db: Queryable,
  scope: Scope,
  { status, direction, contact, ...page }: Page & { status?: string; direction?: string; contact?: string },
): Promise<Paged<ChannelMessage>> {
  const values = [scope.tenant, scope.environment, status, direction, contact, ...pageValues(page)];
  const { rows } = await db.query(scope, messagesOfEnvironment, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const latest = statement(
  'latest-sent',
  `select (select message_id from messages where tenant = $1 and environment = $2::"Environment"
             and direction = 'outbound' and message_id is not null order by created_at desc limit 1) as "messageId",
          (select provider_id from emails where tenant = $1 and environment = $2::"Environment"
             and provider_id is not null order by created_at desc limit 1) as "emailId"`,
  { messageId: column.text.nullable, emailId: column.text.nullable },
);

/** Returns the providers' ids of the last message and the last e-mail that were sent, for sample webhooks. */
export async function latestSent(db: Queryable, scope: Scope) {
  const { rows } = await db.query(scope, latest, [scope.tenant, scope.environment]);
  return rows[0]!;
}

const undeliveredReplyRow = {
  /** Id of the inbound message, which is also the request id of its turn. */
  requestId: column.text,
  id: column.text,
  /** `unknown`: it may have been sent. */
  status: column.oneOf<'failed' | 'unknown'>(),
  text: column.text.nullable,
  error: column.text.nullable,
};

/** A reply that did not reach the contact, or may not have reached it. */
export type UndeliveredReply = RowOf<typeof undeliveredReplyRow>;

const undelivered = statement(
  'undelivered-replies',
  `select r.request_id as "requestId", m.id, m.status, m.text, m.error
   from unnest($3::text[]) r(request_id)
   cross join generate_series(0, 99) part
   join messages m on m.tenant = $1 and m.environment = $2::"Environment"
     and m.idempotency_key = ${replyKey.sql('r.request_id', 'part')}
   where m.direction = 'outbound' and m.status in ('failed', 'unknown') and not exists (
     -- Replaced by a retry that was sent (retryMessage).
     select from messages retried where retried.tenant = $1 and retried.environment = m.environment
       and retried.idempotency_key = ${retryKeySql('m.id')} and retried.status in ('sent', 'delivered', 'read'))
   order by m.created_at, m.id`,
  undeliveredReplyRow,
);

/** Returns undelivered messages of the replies to these requests, in order, without those that a retry has replaced. */
export async function undeliveredReplies(
  db: Queryable,
  scope: Scope,
  requestIds: readonly string[],
): Promise<UndeliveredReply[]> {
  return (await db.query(scope, undelivered, [scope.tenant, scope.environment, requestIds])).rows;
}

const replyRow = {
  id: column.text,
  status: column.text,
  error: column.text.nullable,
  createdAt: column.timestamptz,
  /** The time of the last change of the status. */
  updatedAt: column.timestamptz,
};

const repliesOfRequest = statement(
  'replies-of-request',
  `select m.id, m.status, m.error, m.created_at as "createdAt", m.updated_at as "updatedAt"
   from generate_series(0, 99) part
   join messages m on m.tenant = $1 and m.environment = $2::"Environment"
     and m.idempotency_key = ${replyKey.sql('$3', 'part')}
   where m.direction = 'outbound'
   order by m.created_at, m.id`,
  replyRow,
);

/** The messages of the reply to a request, in order, with the state of their delivery. Empty outside of channels. */
export async function repliesOf(db: Queryable, scope: Scope, requestId: string): Promise<RowOf<typeof replyRow>[]> {
  return (await db.query(scope, repliesOfRequest, [scope.tenant, scope.environment, requestId])).rows;
}
