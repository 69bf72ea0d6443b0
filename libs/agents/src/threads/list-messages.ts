import type { Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  statement,
  toPaged,
} from '@parley/db';
import type { Author } from './people';

const messageRow = {
  id: column.text,
  executionId: column.text,
  position: column.int4,
  role: column.oneOf<'user' | 'assistant' | 'note' | 'system'>(),
  /** In a list only its first characters. */
  content: column.text,
  isTruncated: column.bool,
  toolCallIds: column.textArray,
  author: column.jsonb<Author>().nullable,
  channelMessageId: column.text.nullable,
  /** On a channel, the id of the message that the turn answers. */
  requestId: column.text.nullable,
  createdAt: column.timestamptz,
};
export type ThreadMessage = RowOf<typeof messageRow>;

/**
 * Characters of a message in a list. Messages have up to 8 MiB; `readThreadMessage`
 * returns one whole.
 */
export const listedContentChars = 65_536;

/** SQL of the ids of a message's tool calls. The ids are the model's. */
export const toolCallIds = `array(select left(call->>'id', 500) from jsonb_array_elements(m.tool_calls) call)`;

const columns = (
  content: string,
) => `m.id, m.execution_id::text as "executionId", m.position, m.role::text as role,
    ${content} as content, octet_length(m.content) > octet_length(${content}) as "isTruncated", ${toolCallIds} as "toolCallIds",
    m.author, m.channel_message_id as "channelMessageId", m.created_at as "createdAt",
    (select request_id from executions e where e.tenant = $tenant and e.id = m.execution_id) as "requestId"
  from thread_messages m where m.tenant = $tenant and m.thread_id = $threadId and m.role <> 'tool'`;

const messagesOfThread = listStatement(
  'list-thread-messages',
  `select ${columns('left(m.content, $contentChars)')}
     and ($beforeExecutionId::bigint is null
       or (m.execution_id, m.position) < ($beforeExecutionId, $beforePosition::int))
   order by m.execution_id desc, m.position desc limit $limit`,
  messageRow,
);

/** Matches the ids of positions in the list: execution and position within it. */
export const messagePosition = /^[0-8]?\d{1,18}-\d{1,7}$/;

/**
 * What the contact, the agent and people wrote in a thread, newest first, each with its first
 * `contentChars` characters.
 */
export async function listThreadMessages(
  db: Queryable,
  scope: Scope,
  threadId: string,
  page: Page,
  contentChars = listedContentChars,
): Promise<Paged<ThreadMessage>> {
  const [executionId, position] = page.before?.id.split('-') ?? [];
  const values = {
    threadId,
    beforeExecutionId: executionId,
    beforePosition: position,
    limit: page.limit + 1,
    contentChars,
  };
  const { rows } = await db.query(scope, messagesOfThread, values);
  return toPaged(rows, page, (row) => ({
    at: row.createdAt,
    id: `${row.executionId}-${row.position}`,
  }));
}

const messageOfThread = statement(
  'read-thread-message',
  `select ${columns('m.content')} and m.id = $id order by m.execution_id desc limit 1`,
  messageRow,
);

/** A message of a thread with all its text; null when the thread has none with this id. */
export async function readThreadMessage(
  db: Queryable,
  scope: Scope,
  threadId: string,
  id: string,
): Promise<ThreadMessage | null> {
  return (await db.query(scope, messageOfThread, { threadId, id })).rows[0] ?? null;
}
