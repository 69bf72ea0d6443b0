import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, statement, toPaged } from '@parley/db';
import type { StoredToolCall } from './turn';

const messageRow = {
  id: column.text,
  executionId: column.text,
  position: column.int4,
  role: column.oneOf<'user' | 'assistant'>(),
  content: column.text,
  toolCalls: column.jsonb<StoredToolCall[]>().nullable,
  createdAt: column.timestamptz,
};

const messagesOfThread = statement(
  'list-thread-messages',
  `select id, execution_id::text as "executionId", position, role::text as role, content, tool_calls as "toolCalls",
          created_at as "createdAt"
   from thread_messages
   where tenant = $1 and thread_id = $2 and role <> 'tool'
     and ($3::bigint is null or (execution_id, position) < ($3, $4::int))
   order by execution_id desc, position desc limit $5`,
  messageRow,
);

/** Matches the ids of positions in the list: execution and position within it. */
export const messagePosition = /^[0-8]?\d{1,18}-\d{1,6}$/;

/** What the contact and the agent wrote in a thread, newest first. */
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
