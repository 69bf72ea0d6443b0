import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, newId, statement } from '@parley/db';
import { recordEvent } from '@parley/events';
import { withPromptsErased } from './prompts';
import { firstPosition } from './turn-sql';

/**
 * Who wrote a message or took a thread over: a person, the program of an API key, or a person with
 * the phone of the channel.
 */
export interface Author {
  type: 'person' | 'api_key' | 'phone';
  id: string;
  name: string;
}

/**
 * Who answers a thread: the agent, a person who has taken it over, or, while it waits
 * for a person, none.
 */
export type ThreadState = 'agent' | 'human' | 'waiting';

const lockedThread = {
  id: column.text,
  externalId: column.text.nullable,
  channel: column.text,
  state: column.oneOf<ThreadState>('ThreadState'),
  status: column.oneOf<'open' | 'closed'>('ThreadStatus'),
  assigneeId: column.text.nullable,
  labels: column.textArray,
  resumesAt: column.timestamptz.nullable,
  /**
   * The execution to which messages of people are added; null before the contact's first message.
   */
  executionId: column.int8.nullable,
};
export type LockedThread = RowOf<typeof lockedThread>;

const lock = statement(
  'lock-thread',
  `select id, external_id as "externalId", channel, state, status, assignee_id as "assigneeId", labels,
          resumes_at as "resumesAt",
          (select max(e.id) from executions e where e.tenant = $tenant and e.thread_id = t.id) as "executionId"
   from threads t
   where t.tenant = $tenant and t.environment = $environment::"Environment"
     and (t.id = $idOrExternalId or t.external_id = $idOrExternalId)
     and t.erase_at is null
   order by t.id = $idOrExternalId desc limit 1 for no key update`,
  lockedThread,
);

/**
 * Locks a thread, by its id or external id, until the end of the transaction. What people do
 * in a thread, and how its turns begin, happens one after the other. Null when the environment
 * has no such thread.
 */
export const lockThread = async (
  tx: Queryable,
  scope: Scope,
  idOrExternalId: string,
): Promise<LockedThread | null> =>
  (await tx.query(scope, lock, { environment: scope.environment, idOrExternalId })).rows[0] ?? null;

const takeOver = statement(
  'take-thread-over',
  `update threads set state = 'human', status = 'open', taken_over_by = $by::jsonb, taken_over_at = now(),
          resumes_at = $resumesAt, notify_at = null, updated_at = now()
   where tenant = $tenant and id = $id`,
);

/**
 * Ended like a message that arrives during a takeover. The process that runs the turn finds out
 * at its next write.
 */
const endOpenTurns = statement(
  'end-open-turns',
  `update executions set status = 'succeeded', output = null, finished_at = now(), lease_until = null
   where tenant = $tenant and thread_id = $id and status in ('queued', 'running')`,
);

/**
 * Takes a locked thread over: its agent does not answer until `resumesAt` or, when it is null,
 * until `resumeThread`. Turns that have not finished are ended without a reply, and call no further
 * tools (docs/adr/0055).
 */
export async function takeThreadOver(
  tx: Queryable,
  scope: Scope,
  { id }: LockedThread,
  { by, resumesAt }: { by: Author; resumesAt: Date | null },
): Promise<void> {
  await tx.query(scope, takeOver, { id, by: JSON.stringify(by), resumesAt });
  await tx.query(scope, endOpenTurns, { id });
}

const resume = statement(
  'resume-thread',
  `update threads set state = 'agent', resumes_at = null, notify_at = null, updated_at = now()
   where tenant = $tenant and id = $id`,
);

// A text that the agent wrote with a call of a tool is no answer. A turn that has not ended
// may still answer.
const lastUnanswered = statement(
  'last-unanswered-turn',
  `select case when m.role = 'user' and e.status = 'succeeded' and e.output is null then e.request_id end as "requestId"
   from thread_messages m join executions e on e.tenant = $tenant and e.id = m.execution_id
   where m.tenant = $tenant and m.thread_id = $id and (m.role = 'user' or m.role = 'assistant' and m.tool_calls is null)
   order by m.execution_id desc, m.position desc limit 1`,
  { requestId: column.text.nullable },
);

/**
 * Lets the agent of a locked thread answer again. Returns the request of the contact's last message
 * if it has no answer, else null.
 */
export async function resumeThread(
  tx: Queryable,
  scope: Scope,
  { id }: LockedThread,
): Promise<string | null> {
  await tx.query(scope, resume, { id });
  return (await tx.query(scope, lastUnanswered, { id })).rows[0]?.requestId ?? null;
}

const addMessage = statement(
  'add-message-of-person',
  `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, author, channel_message_id)
   select $id, $tenant, $threadId, $executionId, greatest(${firstPosition}, max(position) + 1), $role::"MessageRole",
     $content, $author::jsonb, $channelMessageId
   from thread_messages where tenant = $tenant and execution_id = $executionId
   on conflict (id, tenant) do nothing`,
);

export interface PersonsMessage {
  /** `assistant`: a reply to the contact. `note`: for people only. `system`: for the agent. */
  role: 'assistant' | 'note' | 'system';
  content: string;
  author: Author;
  /** The message of the channel that delivers the reply. */
  channelMessageId?: string;
  /** Given for a request that may be repeated: a message with this id is added once. */
  id?: string;
}

/**
 * Adds a message of a person at the end of a locked thread, and returns its id; null when the
 * contact has not written yet.
 */
export async function addPersonsMessage(
  tx: Queryable,
  scope: Scope,
  { id: threadId, executionId }: LockedThread,
  { role, content, author, channelMessageId, id = newId('msg') }: PersonsMessage,
): Promise<string | null> {
  if (executionId === null) return null;
  await tx.query(scope, addMessage, {
    id,
    threadId,
    executionId,
    role,
    content,
    author: JSON.stringify(author),
    channelMessageId: channelMessageId ?? null,
  });
  return id;
}

const newestOfOthers = statement(
  'newest-message-of-thread',
  `select id from thread_messages where tenant = $tenant and thread_id = $id and role in ('user', 'assistant')
     and content <> ''
   order by execution_id desc, position desc limit 1`,
  { id: column.text },
);

/**
 * The id of the last message in a thread that the contact wrote or got; null when there is none.
 */
export const lastMessageId = async (
  tx: Queryable,
  scope: Scope,
  { id }: LockedThread,
): Promise<string | null> => (await tx.query(scope, newestOfOthers, { id })).rows[0]?.id ?? null;

const threadForPhone = statement(
  'create-thread-for-phone',
  `insert into threads (id, tenant, environment, external_id, channel, last_message_at, updated_at)
   values ($id, $tenant, $environment::"Environment", $externalId, 'whatsapp', now(), now())
   on conflict (tenant, environment, external_id) do nothing`,
);

/**
 * A message that a person wrote in the phone's own app: adds it to the contact's thread, which it
 * creates if there is none, and takes the thread over until `resumesAt`. A longer takeover stays.
 */
export async function recordPhoneReply(
  tx: Queryable,
  scope: Scope,
  { externalId, content, channelMessageId, resumesAt }: PhoneReply,
): Promise<void> {
  await tx.query(scope, threadForPhone, {
    id: newId('thread'),
    environment: scope.environment,
    externalId,
  });
  const thread = (await lockThread(tx, scope, externalId))!;
  const author: Author = { type: 'phone', id: 'phone', name: 'Phone' };
  await addPersonsMessage(tx, scope, thread, {
    role: 'assistant',
    content,
    author,
    channelMessageId,
  });
  const isLonger =
    thread.state === 'human' && (thread.resumesAt === null || thread.resumesAt > resumesAt);
  if (!isLonger && resumesAt.getTime() > Date.now())
    await takeThreadOver(tx, scope, thread, { by: author, resumesAt });
}

interface PhoneReply {
  externalId: string;
  content: string;
  channelMessageId: string;
  resumesAt: Date;
}

const lockShared = statement(
  'lock-thread-for-reply',
  'select state from threads where tenant = $tenant and id = $threadId for share',
  { state: lockedThread.state },
);

/**
 * Who answers a thread, which cannot be taken over until the end of the transaction. Null
 * when it was erased.
 */
export const lockForReply = async (
  tx: Queryable,
  scope: Scope,
  threadId: string,
): Promise<ThreadState | null> =>
  (await tx.query(scope, lockShared, { threadId })).rows[0]?.state ?? null;

const withdraw = statement(
  'withdraw-reply',
  `with turn as (
     update executions set output = null
     where tenant = $tenant and thread_id = $threadId and request_id = $requestId and status = 'succeeded'
       and output is not null
     returning id)
   delete from thread_messages m using turn
   where m.tenant = $tenant and m.execution_id = turn.id and m.role = 'assistant' and m.author is null
     and m.tool_calls is null`,
);

/** Removes the agent's reply to a message, which a takeover keeps back, from its thread. */
export async function withdrawReply(
  tx: Queryable,
  scope: Scope,
  { threadId, requestId }: { threadId: string; requestId: string },
): Promise<void> {
  await tx.query(scope, withdraw, { threadId, requestId });
}

const wait = statement(
  'thread-waits-for-person',
  `update threads set state = 'waiting', status = 'open', waiting_since = now(), waiting_reason = $reason,
     resumes_at = $resumesAt,
          notify_at = $notifyAt, updated_at = now()
   where tenant = $tenant and environment = $environment::"Environment" and id = $threadId and state = 'agent'
     and erase_at is null`,
);

/**
 * The agent asks for a person, and does not answer until `resumesAt` (null: until a person says
 * so). False: a person answers already.
 */
export async function askForPerson(
  tx: Queryable,
  scope: Scope,
  request: {
    threadId: string;
    agentSlug: string;
    reason: string;
    resumesAt: Date | null;
    notifyAt: Date | null;
  },
): Promise<boolean> {
  const { threadId, agentSlug, reason, resumesAt, notifyAt } = request;
  const values = { environment: scope.environment, threadId, reason, resumesAt, notifyAt };
  if ((await tx.query(scope, wait, values)).rowCount !== 1) return false;
  await recordEvent(tx, scope, {
    type: 'thread.waiting',
    payload: { threadId, reason },
    actor: { type: 'agent', slug: agentSlug },
  });
  return true;
}

const change = statement(
  'change-thread',
  `update threads set status = $status::"ThreadStatus", assignee_id = $assigneeId, labels = $labels, updated_at = now()
   where tenant = $tenant and id = $id`,
);

export interface ThreadChange {
  status?: 'open' | 'closed';
  /** Null: none. */
  assigneeId?: string | null;
  labels?: string[];
}

/** Changes a locked thread. What is absent stays. */
export async function changeThread(
  tx: Queryable,
  scope: Scope,
  thread: LockedThread,
  body: ThreadChange,
) {
  const { status = thread.status, assigneeId = thread.assigneeId, labels = thread.labels } = body;
  await tx.query(scope, change, { id: thread.id, status, assigneeId, labels });
}

const visit = statement(
  'visit-thread',
  `insert into thread_visits as v (tenant, thread_id, visitor_id, visitor, read_at, open_until, typing_until)
   values ($tenant, $threadId, $id, $visitor::jsonb, case when $isRead then now() end,
     now() + $openSeconds * interval '1 second',
           now() + $typingSeconds * interval '1 second')
   on conflict (tenant, visitor_id, thread_id) do update
     set visitor = excluded.visitor, read_at = coalesce(excluded.read_at, v.read_at),
         open_until = coalesce(excluded.open_until, v.open_until),
         typing_until = coalesce(excluded.typing_until, v.typing_until)`,
);

interface Visit {
  visitor: Author;
  isRead?: boolean;
  /** Null: as before. 0: no longer. */
  openSeconds?: number | null;
  typingSeconds?: number | null;
}

/** Stores that a visitor has read a thread up to now, has it open, or is writing a reply. */
export async function visitThread(
  db: Queryable,
  scope: Scope,
  threadId: string,
  { visitor, isRead = false, openSeconds = null, typingSeconds = null }: Visit,
): Promise<void> {
  const values = {
    threadId,
    id: visitor.id,
    visitor: JSON.stringify(visitor),
    isRead,
    openSeconds,
    typingSeconds,
  };
  await db.query(scope, visit, values);
}

const erase = statement(
  'erase-thread',
  `delete from threads where tenant = $tenant and id = $id and not exists (
     select from executions where tenant = $tenant and thread_id = $id and status in ('queued', 'running')
       and lease_until > now())`,
);

/**
 * Deletes a thread with its messages and executions, and the prompts that no other execution has
 * sent. False: the agent is answering a message of it. The caller locks the thread if a message
 * may arrive for it.
 */
export const eraseThread = (
  tx: Queryable,
  scope: Scope,
  { id }: Pick<LockedThread, 'id'>,
): Promise<boolean> =>
  withPromptsErased(
    tx,
    scope,
    id,
    async () => (await tx.query(scope, erase, { id })).rowCount === 1,
  );
