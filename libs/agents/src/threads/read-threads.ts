import type { JsonObject, Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';

/** Who answers the thread: the agent, or a person who has taken it over. */
type ThreadState = 'agent' | 'human';

const common = {
  id: column.text,
  externalId: column.text.nullable,
  channel: column.text,
  agentSlug: column.text.nullable,
  state: column.oneOf<ThreadState>(),
  createdAt: column.timestamptz,
  /** The time of the last message. Never null, because a thread is created with its first message. */
  lastMessageAt: column.timestamptz,
  turnCount: column.int4,
};
const summaryRow = {
  ...common,
  /** The beginning of the last incoming message. */
  lastInput: column.text.nullable,
};
const threadRow = { ...common, params: column.jsonb<JsonObject>(), transferCount: column.int4 };

export type ThreadSummary = RowOf<typeof summaryRow>;
export type Thread = RowOf<typeof threadRow>;

const columns = `t.id, t.external_id as "externalId", t.channel, t.agent_slug as "agentSlug",
  case when t.taken_over then 'human' else 'agent' end as state, t.created_at as "createdAt", t.last_message_at as "lastMessageAt",
  (select count(*)::int from executions e where e.tenant = $1 and e.thread_id = t.id) as "turnCount"`;

const list = statement(
  'list-threads',
  `select ${columns},
          (select left(e.input, 200) from executions e where e.tenant = $1 and e.thread_id = t.id order by e.id desc limit 1) as "lastInput"
   from threads t
   where t.tenant = $1 and t.environment = $2::"Environment" and t.last_message_at is not null
     and ($3::text is null or t.agent_slug = $3)
     and ($4::boolean is null or t.taken_over = $4)
     and ($5::timestamptz is null or (t.last_message_at, t.id) < ($5, $6))
   order by t.last_message_at desc, t.id desc limit $7`,
  summaryRow,
);

/**
 * Threads of an environment, ordered by their last message, newest first. A thread that gets a message between two pages
 * moves to the front, so it is never on two pages.
 */
export async function listThreads(
  db: Queryable,
  scope: Scope,
  { agentSlug, state, ...page }: Page & { agentSlug?: string; state?: ThreadState },
): Promise<Paged<ThreadSummary>> {
  const values = [scope.tenant, scope.environment, agentSlug, state && state === 'human', ...pageValues(page)];
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

/** A thread by its id, else by its external id; null when the environment has none. */
export async function readThread(db: Queryable, scope: Scope, idOrExternalId: string): Promise<Thread | null> {
  const { rows } = await db.query(scope, byEitherId, [scope.tenant, scope.environment, idOrExternalId]);
  return rows[0] ?? null;
}

const setThreadTakenOver = statement(
  'set-thread-taken-over',
  `update threads set taken_over = $4, updated_at = now()
   where tenant = $1 and environment = $2::"Environment" and id = $3 and taken_over <> $4`,
);

/** Begins or ends a takeover. Returns false when the thread is already in that state or does not exist. */
export async function setTakenOver(
  db: Queryable,
  scope: Scope,
  threadId: string,
  takenOver: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, setThreadTakenOver, [
    scope.tenant,
    scope.environment,
    threadId,
    takenOver,
  ]);
  return rowCount === 1;
}
