import type { JsonObject, Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';

const common = {
  id: column.text,
  externalId: column.text.nullable,
  channel: column.text,
  agentSlug: column.text.nullable,
  agentPaused: column.bool,
  createdAt: column.timestamptz,
  /** A thread is made by its first message, so each has a last one. */
  lastMessageAt: column.timestamptz,
  turnCount: column.int4,
};
const summaryRow = {
  ...common,
  /** The beginning of the last message that came in. */
  lastInput: column.text.nullable,
};
const threadRow = { ...common, params: column.jsonb<JsonObject>(), transferCount: column.int4 };

/** A conversation of an environment, for people. */
export type ThreadSummary = RowOf<typeof summaryRow>;
export type Thread = RowOf<typeof threadRow>;

const columns = `t.id, t.external_id as "externalId", t.channel, t.agent_slug as "agentSlug",
  t.agent_paused as "agentPaused", t.created_at as "createdAt", t.last_message_at as "lastMessageAt",
  (select count(*)::int from executions e where e.tenant = $1 and e.thread_id = t.id) as "turnCount"`;

/** The order is that of the index. */
const list = statement(
  'list-threads',
  `select ${columns},
          (select left(e.input, 200) from executions e where e.tenant = $1 and e.thread_id = t.id order by e.id desc limit 1) as "lastInput"
   from threads t
   where t.tenant = $1 and t.environment = $2::"Environment" and t.last_message_at is not null
     and ($3::text is null or t.agent_slug = $3)
     and ($4::boolean is null or t.agent_paused = $4)
     and ($5::timestamptz is null or (t.last_message_at, t.id) < ($5, $6))
   order by t.last_message_at desc, t.id desc limit $7`,
  summaryRow,
);

/**
 * Threads by their last message, newest first. A thread that gets a message while somebody pages moves to the front:
 * it is never on two pages.
 */
export async function listThreads(
  db: Queryable,
  scope: Scope,
  { agentSlug, state, ...page }: Page & { agentSlug?: string; state?: 'active' | 'paused' },
): Promise<Paged<ThreadSummary>> {
  const isPaused = state && state === 'paused';
  const values = [scope.tenant, scope.environment, agentSlug, isPaused, ...pageValues(page)];
  const { rows } = await db.query(scope, list, values);
  return toPaged(rows, page, ({ lastMessageAt, id }) => ({ at: lastMessageAt, id }));
}

const byEitherId = statement(
  'read-thread',
  `select ${columns}, t.params, t.transfer_count as "transferCount" from threads t
   where t.tenant = $1 and t.environment = $2::"Environment" and (t.id = $3 or t.external_id = $3)
   order by t.id = $3 desc limit 1`,
  threadRow,
);

/** A thread by its id, else by the id that its organization knows it by; null when there is none. */
export async function readThread(db: Queryable, scope: Scope, idOrExternalId: string): Promise<Thread | null> {
  const { rows } = await db.query(scope, byEitherId, [scope.tenant, scope.environment, idOrExternalId]);
  return rows[0] ?? null;
}

const pause = statement(
  'pause-thread',
  `update threads set agent_paused = $4, updated_at = now()
   where tenant = $1 and environment = $2::"Environment" and id = $3 and agent_paused <> $4`,
);

/** Notes that a person has taken a thread over, or has given it back. False: that was so already, or there is no such thread. */
export async function setPaused(db: Queryable, scope: Scope, threadId: string, paused: boolean): Promise<boolean> {
  const { rowCount } = await db.query(scope, pause, [scope.tenant, scope.environment, threadId, paused]);
  return rowCount === 1;
}
