import type { JsonObject, Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  statement,
  toPaged,
  unpreparedList,
} from '@parley/db';
import type { Author, ThreadState } from './people';

const common = {
  id: column.text,
  externalId: column.text.nullable,
  channel: column.text,
  agentSlug: column.text.nullable,
  contactName: column.text.nullable,
  state: column.oneOf<ThreadState>(),
  status: column.oneOf<'open' | 'closed'>(),
  assigneeId: column.text.nullable,
  labels: column.textArray,
  /** Only while a person answers. */
  takenOverBy: column.jsonb<Author>().nullable,
  takenOverAt: column.timestamptz.nullable,
  /** Only while the agent does not answer: when it answers again. */
  resumesAt: column.timestamptz.nullable,
  /** Only while the thread waits for a person. */
  waitingSince: column.timestamptz.nullable,
  waitingReason: column.text.nullable,
  /** The contact has written since the visitor has read the thread. */
  isUnread: column.bool,
  createdAt: column.timestamptz,
  /**
   * The time of the contact's last message. Null only in threads of single requests, which
   * no list contains.
   */
  lastMessageAt: column.timestamptz,
  turnCount: column.int4,
};
const summaryRow = {
  ...common,
  /** The beginning of the last incoming message. */
  lastInput: column.text.nullable,
};
const threadRow = {
  ...common,
  params: column.jsonb<JsonObject>(),
  transferCount: column.int4,
  /** Who has the thread open. */
  visitors: column.jsonb<(Author & { isTyping: boolean })[]>(),
};

export type ThreadSummary = RowOf<typeof summaryRow>;
export type Thread = RowOf<typeof threadRow>;

/** Characters of a contact's name. Names that were stored earlier may be longer. */
export const contactNameChars = 200;
const reasonChars = 4_000;

const columns = `t.id, t.external_id as "externalId", t.channel, t.agent_slug as "agentSlug",
  left(t.params->>'contactName', ${contactNameChars}) as "contactName", t.state::text as state, t.status::text as status,
  t.assignee_id as "assigneeId", t.labels,
  case when t.state = 'human' then t.taken_over_by end as "takenOverBy",
  case when t.state = 'human' then t.taken_over_at end as "takenOverAt", t.resumes_at as "resumesAt",
  case when t.state = 'waiting' then t.waiting_since end as "waitingSince",
  case when t.state = 'waiting' then left(t.waiting_reason, ${reasonChars}) end as "waitingReason",
  coalesce(t.last_message_at > (
    select v.read_at from thread_visits v where v.tenant = $tenant and v.thread_id = t.id
      and v.visitor_id = $visitorId), true) as "isUnread", t.created_at as "createdAt",
  t.last_message_at as "lastMessageAt",
  (select count(*)::int from executions e where e.tenant = $tenant and e.thread_id = t.id) as "turnCount"`;

const ofEnvironment = 'where t.tenant = $tenant and t.environment = $environment::"Environment"';

export interface ThreadFilters {
  agentSlug?: string;
  channel?: string;
  state?: ThreadState;
  status?: 'open' | 'closed';
  assigneeId?: string;
  /** A part of the contact's name or of the external id. */
  text?: string;
  label?: string;
  since?: Date;
}

/** The condition of each filter. */
const conditions: Record<keyof ThreadFilters, string> = {
  agentSlug: 't.agent_slug = $agentSlug',
  channel: 't.channel = $channel',
  state: 't.state = $state::"ThreadState"',
  status: 't.status = $status::"ThreadStatus"',
  assigneeId: 't.assignee_id = $assigneeId',
  text: `(t.external_id ilike $text or left(t.params->>'contactName', ${contactNameChars}) ilike $text)`,
  label: '$label = any(t.labels)',
  since: 't.last_message_at >= $since',
};

/**
 * All marks of the visitor at once. A look-up for each thread took 300 ms for a visitor who has
 * read all of 100,000 threads but 0.1 %, the one join takes 170 ms.
 */
const readMarks = `with marks as materialized (
    select thread_id, read_at from thread_visits where tenant = $tenant and visitor_id = $visitorId
      and read_at is not null)`;

/**
 * Threads of an environment, ordered by the contact's last message, newest first. A thread that
 * gets a message between two pages moves to the front, so it is never on two pages. `visitorId`:
 * the caller whose read marks count. `isUnread`: only threads in which the contact has written
 * since the visitor has read them.
 */
export async function listThreads(
  db: Queryable,
  scope: Scope,
  {
    visitorId = '',
    isUnread = false,
    limit,
    before,
    ...given
  }: Page & ThreadFilters & { visitorId?: string; isUnread?: boolean },
): Promise<Paged<ThreadSummary>> {
  const values: Record<string, unknown> = {
    environment: scope.environment,
    visitorId,
    limit: limit + 1,
  };
  const where = [`t.last_message_at is not null`];
  for (const [name, value] of Object.entries(given) as [keyof ThreadFilters, unknown][]) {
    if (value === undefined) continue;
    where.push(conditions[name]);
    values[name] = name === 'text' ? patternOf(String(value)) : value;
  }
  // The condition of an index.
  if (given.state !== undefined && given.state !== 'agent') where.push("t.state <> 'agent'");
  if (isUnread) where.push('coalesce(marks.read_at < t.last_message_at, true)');
  if (before !== null) {
    where.push('(t.last_message_at, t.id) < ($beforeAt::timestamptz, $beforeId::text)');
    values.beforeAt = before.at;
    values.beforeId = before.id;
  }
  // Not prepared: only the filters that are given are in the text, so that each has
  // the plan it needs.
  const list = unpreparedList(
    'list-threads',
    `${isUnread ? readMarks : ''} select ${columns},
       (select left(e.input, 200) from executions e where e.tenant = $tenant and e.thread_id = t.id order by e.id desc
         limit 1) as "lastInput"
     from threads t ${isUnread ? 'left join marks on marks.thread_id = t.id' : ''} ${ofEnvironment} and ${where.join(' and ')}
     order by t.last_message_at desc, t.id desc limit $limit`,
    summaryRow,
  );
  const { rows } = await db.query(scope, list, values);
  return toPaged(rows, { limit, before }, ({ lastMessageAt, id }) => ({ at: lastMessageAt, id }));
}

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;

const byEitherId = statement(
  'read-thread',
  `select ${columns}, t.params, t.transfer_count as "transferCount",
          (select coalesce(jsonb_agg(o.visitor || jsonb_build_object('isTyping', coalesce(o.typing_until > now(), false))
                    order by o.visitor_id), '[]') from thread_visits o
           where o.tenant = $tenant and o.thread_id = t.id and o.open_until > now()) as visitors
   from threads t ${ofEnvironment} and (t.id = $idOrExternalId or t.external_id = $idOrExternalId)
     and t.erase_at is null
   order by t.id = $idOrExternalId desc limit 1`,
  threadRow,
);

/** A thread by its id, else by its external id; null when the environment has none. */
export async function readThread(
  db: Queryable,
  scope: Scope,
  idOrExternalId: string,
  visitorId = '',
): Promise<Thread | null> {
  const { rows } = await db.query(scope, byEitherId, {
    environment: scope.environment,
    visitorId,
    idOrExternalId,
  });
  return rows[0] ?? null;
}

const idByEitherId = statement(
  'find-thread',
  `select t.id, t.channel from threads t ${ofEnvironment}
     and (t.id = $idOrExternalId or t.external_id = $idOrExternalId) and t.erase_at is null
   order by t.id = $idOrExternalId desc limit 1`,
  { id: column.text, channel: column.text },
);

/**
 * The id and channel of a thread by its id, else by its external id; null when the
 * environment has none.
 */
export async function findThread(
  db: Queryable,
  scope: Scope,
  idOrExternalId: string,
): Promise<{ id: string; channel: string } | null> {
  return (
    (await db.query(scope, idByEitherId, { environment: scope.environment, idOrExternalId }))
      .rows[0] ?? null
  );
}

const idOfCaller = statement(
  'find-thread-of-caller',
  `select t.id from threads t ${ofEnvironment} and (t.id = $idOrExternalId or t.external_id = $idOrExternalId)
     and t.erase_at is null
     and t.channel = 'api' and exists (
       select from executions e where e.tenant = $tenant and e.thread_id = t.id
         and e.background->>'callerId' = $callerId)
   order by t.id = $idOrExternalId desc limit 1`,
  { id: column.text },
);

/**
 * The id of a thread of the API in which a caller has started an execution, by the thread's id,
 * else by its external id.
 */
export async function findThreadOfCaller(
  db: Queryable,
  scope: Scope,
  idOrExternalId: string,
  callerId: string,
): Promise<{ id: string } | null> {
  const values = { environment: scope.environment, idOrExternalId, callerId };
  return (await db.query(scope, idOfCaller, values)).rows[0] ?? null;
}

const apiThread = statement(
  'is-thread-of-api',
  `select from threads t ${ofEnvironment} and t.id = $threadId and t.channel = 'api'`,
);

/** Whether a message may continue the thread that it names by its id. */
export async function mayContinue(
  db: Queryable,
  scope: Scope,
  { threadId, isLimitedToApi = false }: { threadId?: string; isLimitedToApi?: boolean },
): Promise<boolean> {
  if (threadId === undefined || !isLimitedToApi) return true;
  const { rows } = await db.query(scope, apiThread, { environment: scope.environment, threadId });
  return rows.length > 0;
}

/** The highest number that is counted. */
const maxThreadCount = 1_000;

const count = (name: string, condition: string) => `(select count(*)::int from (
    select from threads t ${ofEnvironment} and t.status = 'open' and t.last_message_at is not null and ${condition}
    order by t.last_message_at desc limit ${maxThreadCount}) c) as ${name}`;

const counts = statement(
  'count-threads',
  `select ${['agent', 'human', 'waiting'].map((state) => count(state, `t.state = '${state}'`)).join(', ')},
     ${count('mine', 't.assignee_id = $assigneeId')}`,
  { agent: column.int4, human: column.int4, waiting: column.int4, mine: column.int4 },
);

/**
 * Numbers of open threads by state, and of those that a person looks after, each at most
 * `maxThreadCount`.
 */
export const countThreads = async (
  db: Queryable,
  scope: Scope,
  assigneeId: string,
): Promise<Record<ThreadState | 'mine', number>> =>
  (await db.query(scope, counts, { environment: scope.environment, assigneeId })).rows[0]!;
