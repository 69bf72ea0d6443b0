import type { Json, Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  pageValues,
  statement,
  toPaged,
  unpreparedList,
} from '@parley/db';
import { replyKey, retryKeySql } from './message-keys';

const messageRow = {
  id: column.text,
  /** The provider's id. */
  messageId: column.text.nullable,
  direction: column.oneOf<'inbound' | 'outbound'>('MessageDirection'),
  contact: column.text,
  threadId: column.text.nullable,
  type: column.text,
  text: column.text.nullable,
  isTruncated: column.bool,
  origin: column.oneOf<'phone'>().nullable,
  /** The location, reaction or shared contacts, as the provider sent them (readSharedContent). */
  shared: column.jsonb<Json>().nullable,
  status: column.text,
  attempts: column.int4,
  error: column.text.nullable,
  /** The file of the message; null when it has none. */
  mediaStatus: column.oneOf<'pending' | 'fetching' | 'ready' | 'failed'>().nullable,
  filename: column.text.nullable,
  contentType: column.text.nullable,
  size: column.int4.nullable,
  mediaError: column.text.nullable,
  createdAt: column.timestamptz,
};
export type ChannelMessage = RowOf<typeof messageRow>;

/**
 * Characters of a text in a list. A text of WhatsApp has up to 4,096, a transcript may have more.
 */
const listedTextChars = 65_536;

const rowsOf = (
  text: string,
) => `select m.id, m.message_id as "messageId", m.direction, m.contact, m.thread_id as "threadId", m.type,
    ${text} as text, coalesce(octet_length(m.text) > octet_length(${text}), false) as "isTruncated", m.origin,
    case when m.direction = 'inbound' and m.type in ('location', 'reaction', 'contacts')
         then m.payload #> array['message', m.type] end as shared, m.status, m.attempts, m.error, b.status as "mediaStatus", b.filename, b.content_type as "contentType",
    octet_length(b.bytes) as size, b.error as "mediaError", m.created_at as "createdAt"
  from messages m left join blobs b on b.tenant = $tenant and b.id = m.id`;

// Not prepared: the filters that are given decide about the index.
const messagesOfEnvironment = unpreparedList(
  'list-channel-messages',
  `${rowsOf(`left(m.text, ${listedTextChars})`)}
   where m.tenant = $tenant and m.environment = $environment::"Environment"
     and ($status::text is null or m.status = $status)
     and ($direction::text is null or m.direction = $direction::"MessageDirection")
       and ($contact::text is null or m.contact = $contact)
     and ($threadId::text is null or m.thread_id = $threadId)
       and ($since::timestamptz is null or m.created_at >= $since)
     and ($beforeAt::timestamptz is null or (m.created_at, m.id) < ($beforeAt, $beforeId::text))
   order by m.created_at desc, m.id desc limit $limit`,
  messageRow,
);

export interface MessageFilter {
  status?: string;
  direction?: string;
  /** Id of the contact: the digits of a number or a scoped id. */
  contact?: string;
  threadId?: string;
  since?: Date;
}

/** Lists inbound and outbound messages, newest first. */
export async function listMessages(
  db: Queryable,
  scope: Scope,
  { status, direction, contact, threadId, since, ...page }: Page & MessageFilter,
): Promise<Paged<ChannelMessage>> {
  const found = await db.query(scope, messagesOfEnvironment, {
    environment: scope.environment,
    status,
    direction,
    contact,
    threadId,
    since,
    ...pageValues(page),
  });
  return toPaged(found.rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const messageOfEnvironment = statement(
  'find-channel-message',
  `${rowsOf('m.text')} where m.tenant = $tenant and m.environment = $environment::"Environment" and m.id = $id`,
  messageRow,
);

/** Finds a message with its file; null when it does not exist. */
export const findMessage = async (
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<ChannelMessage | null> =>
  (await db.query(scope, messageOfEnvironment, { environment: scope.environment, id })).rows[0] ??
  null;

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
  `select s.id, s.status, s.error, s.created_at as "createdAt", s.updated_at as "updatedAt"
   from generate_series(0, 99) part
   join messages m on m.tenant = $tenant and m.environment = $environment::"Environment"
     and m.idempotency_key = ${replyKey.sql('$requestId', 'part')}
   -- The message of a retry replaces the first one (retryMessage).
   left join messages r on r.tenant = $tenant and r.environment = m.environment
     and r.idempotency_key = ${retryKeySql('m.id')}
   join messages s on s.tenant = $tenant and s.id = coalesce(r.id, m.id)
   where m.direction = 'outbound'
   order by m.created_at, m.id`,
  replyRow,
);

/**
 * The messages of the reply to a request, in order, with the state of their delivery. Empty
 * outside of channels.
 */
export async function repliesOf(
  db: Queryable,
  scope: Scope,
  requestId: string,
): Promise<RowOf<typeof replyRow>[]> {
  return (await db.query(scope, repliesOfRequest, { environment: scope.environment, requestId }))
    .rows;
}
