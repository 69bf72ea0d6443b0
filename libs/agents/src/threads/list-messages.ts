import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, statement, toPaged } from '@parley/db';
import type { Author } from './people';
import type { StoredToolCall } from './turn';

const messageRow = {
  id: column.text,
  executionId: column.text,
  position: column.int4,
  role: column.oneOf<'user' | 'assistant' | 'note' | 'system'>(),
  content: column.text,
  toolCalls: column.jsonb<StoredToolCall[]>().nullable,
  author: column.jsonb<Author>().nullable,
  channelMessageId: column.text.nullable,
  /** On a channel, the id of the message that the turn answers. */
  requestId: column.text.nullable,
  createdAt: column.timestamptz,
};

const messagesOfThread = statement(
  'list-thread-messages',
  `select id, execution_id::text as "executionId", position, role::text as role, content, tool_calls as "toolCalls",
          author, channel_message_id as "channelMessageId", created_at as "createdAt",
          (select request_id from executions e where e.tenant = $1 and e.id = m.execution_id) as "requestId"
   from thread_messages m
   where tenant = $1 and thread_id = $2 and role <> 'tool'
     and ($3::bigint is null or (execution_id, position) < ($3, $4::int))
   order by execution_id desc, position desc limit $5`,
  messageRow,
);

/** Matches the ids of positions in the list: execution and position within it. */
export const messagePosition = /^[0-8]?\d{1,18}-\d{1,7}$/;

/** What the contact, the agent and people wrote in a thread, newest first. */
export async function listThreadMessages(
  db: Queryable,
  scope: Scope,
  threadId: string,
  page: Page,
): Promise<Paged<RowOf<typeof messageRow>>> {
  const [executionId, position] = page.before?.id.split('-') ?? [];
  const values = [scope.tenant, threadId, executionId, position, page.limit + 1];
  const { rows } = await db.query(scope, messagesOfThread, values);
  return toPaged(rows, page, (row) => ({ at: row.createdAt, id: `${row.executionId}-${row.position}` }));
}
