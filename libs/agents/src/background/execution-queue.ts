import type { JsonObject, Json, Scope } from '@parley/contracts';
import {
  type Queryable,
  type RowOf,
  claimByTenant,
  column,
  leaseSql,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';
import type { HistoryRow } from '../threads/turn';
import {
  firstPosition,
  historyBytes,
  historyLimit,
  leaseSeconds,
  maxHistoryBytes,
} from '../threads/turn-sql';
import type { Background } from './begin-execution';

const isOpen = (row: string) =>
  `${row}background is not null and ${row}status in ('queued', 'running')`;
/**
 * No earlier turn of the thread is unfinished, except those whose process was killed,
 * which `claim` ends.
 */
const isFirst = `(
  select true from executions p where p.tenant = $tenant and p.thread_id = e.thread_id and p.id < e.id
    and p.status in ('queued', 'running') and (p.background is not null or p.lease_until > now())
  order by p.id limit 1) is null`;

const claimedRow = {
  ...scopeRow,
  id: column.text,
  threadId: column.text,
  agentSlug: column.text,
  routerSlug: column.text.nullable,
  input: column.text,
  requestId: column.text.nullable,
  background: column.jsonb<Background>(),
  /** How many processes have begun to run it, this one included. */
  attempts: column.int4,
  model: column.text.nullable,
  iterations: column.int4,
  inputTokens: column.int4,
  outputTokens: column.int4,
  reasoningTokens: column.int4.nullable,
  steps: column.jsonb<Json[]>(),
  params: column.jsonb<JsonObject>(),
};
/** A background execution that this process runs until its lease expires. */
export type ClaimedExecution = RowOf<typeof claimedRow>;

const countWaiting = statement(
  'waiting-executions',
  `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as lag
   from executions where ${isOpen('')} and status = 'queued' and ${leaseSql.dueSince} is not null`,
  { waiting: column.int4, lag: column.float8 },
);

/**
 * The number of background executions that no process has begun, and the age of the
 * oldest in seconds.
 */
export const waitingExecutions = async (db: Queryable) =>
  (await db.acrossTenants('metrics', countWaiting)).rows;

const claimSql = (which: string) => `
  with next as (
    select e.id, e.thread_id from executions e
    where e.tenant = $tenant and ${isOpen('e.')} and ${leaseSql.isFree('e.')} and ${which} and ${isFirst}
    order by coalesce(e.lease_until, e.created_at), e.id limit 1 for update skip locked),
  expired as (
    update executions set status = 'failed', error = 'interrupted', finished_at = now()
    where tenant = $tenant and thread_id = (select thread_id from next) and id < (select id from next)
      and status in ('queued', 'running') and background is null and lease_until <= now()),
  taken as (
    update executions e set status = 'running', started_at = coalesce(e.started_at, now()), lease_owner = $owner,
           lease_until = ${leaseSql.until(leaseSeconds)}, attempts = e.attempts + 1
    from next where e.tenant = $tenant and e.id = next.id returning e.*)
  select ${scopeColumns('e.')}, e.id::text as id, e.thread_id as "threadId", e.agent_slug as "agentSlug",
         e.router_slug as "routerSlug", e.input, e.request_id as "requestId", e.background, e.attempts, e.model,
         e.iterations, e.input_tokens as "inputTokens", e.output_tokens as "outputTokens",
         e.reasoning_tokens as "reasoningTokens", e.steps, t.params
  from taken e join threads t on t.tenant = $tenant and t.id = e.thread_id`;

const claimById = statement('claim-execution', claimSql('e.id = $id::bigint'), claimedRow);
const claimOfThread = statement(
  'claim-execution-of-thread',
  claimSql('e.thread_id = $threadId'),
  claimedRow,
);
const claimOfTenant = statement(
  'claim-execution-of-tenant',
  claimSql(`${leaseSql.dueSince} is not null`),
  claimedRow,
);

type Which = { id: string } | { threadId: string } | null;

/**
 * Claims an execution that is due: the named one, the next of a thread, or the one of the tenant
 * that waits the longest.
 */
export async function claimExecution(
  db: Queryable,
  tenant: number,
  owner: string,
  which: Which,
): Promise<ClaimedExecution | null> {
  const query =
    which === null
      ? db.query({ tenant }, claimOfTenant, { owner })
      : 'id' in which
        ? db.query({ tenant }, claimById, { owner, id: which.id })
        : db.query({ tenant }, claimOfThread, { owner, threadId: which.threadId });
  return (await query).rows[0] ?? null;
}

const messages = statement(
  'messages-before-execution',
  `select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id, m.author->>'name')
                   order by m.execution_id, m.position) as rows,
          coalesce(max(m.position) filter (where m.execution_id = $id::bigint), 0) + 1 as position
   from (select *, ${historyBytes} from thread_messages
         where tenant = $tenant and thread_id = $threadId and role <> 'note' and execution_id <= $id::bigint
           and (execution_id < $id::bigint or position < ${firstPosition})
         order by execution_id desc, position desc limit ${historyLimit}) m
   -- Messages of the execution itself are needed to continue it.
   where m.execution_id = $id::bigint or m.bytes <= ${maxHistoryBytes}`,
  { rows: column.jsonb<HistoryRow[]>().nullable, position: column.int4 },
);

/**
 * The thread's messages up to an execution, and those of the execution itself, with the first free
 * position among them.
 */
export async function readRecorded(db: Queryable, { tenant, threadId, id }: ClaimedExecution) {
  const [found] = (await db.query({ tenant }, messages, { threadId, id })).rows;
  const { rows, position } = found!;
  const own = (rows ?? []).filter(([executionId]) => executionId === id);
  return { history: (rows ?? []).filter(([executionId]) => executionId !== id), own, position };
}

const setAgent = statement(
  'set-agent-of-execution',
  `with turn as (update executions set agent_slug = $agentSlug where tenant = $tenant and id = $id::bigint
     returning thread_id)
   update threads t set agent_slug = $agentSlug from turn where t.tenant = $tenant and t.id = turn.thread_id`,
);

/** Stores the agent that a router's model has chosen. */
export const storeChosenAgent = async (
  db: Queryable,
  scope: Scope,
  id: string,
  agentSlug: string,
): Promise<void> => void (await db.query(scope, setAgent, { id, agentSlug }));

const dueSince = leaseSql.dueSince;
const due = {
  tenants: leaseSql.tenants('due-execution-tenants', { table: 'executions', where: isOpen('') }),
  due: statement(
    'due-executions',
    `select e.tenant, e.id::text as id from executions e
     where e.tenant = $tenant and ${isOpen('e.')} and ${dueSince} <= now()
       and (e.lease_until is not null or e.created_at < now() - interval '1 second') and ${isFirst}
     order by ${dueSince}, e.id limit $limit offset $offset`,
    { tenant: column.int4, id: column.text },
  ),
};

/**
 * Finds executions whose job was lost, whose process was killed, or that wait for a turn that has
 * ended elsewhere.
 */
export const findDueExecutions = (db: Queryable, limit: number) => claimByTenant(db, due, limit);

const ended = statement(
  'execution-has-ended',
  `select true as ended from executions
   where tenant = $tenant and environment = $environment::"Environment" and id = $id::bigint
     and status not in ('queued', 'running')`,
  { ended: column.bool },
);

export const hasEnded = async (
  db: Queryable,
  { tenant, environment }: Scope,
  id: string,
): Promise<boolean> => (await db.query({ tenant }, ended, { environment, id })).rows.length > 0;

const isOver = `(status not in ('queued', 'running') or (background is null and lease_until < now()))`;
const endedAmong = statement(
  'ended-among-executions',
  `select id::text as id from executions where tenant = $tenant and id = any($ids::bigint[]) and ${isOver}`,
  { id: column.text },
);

/** Which of these executions of a tenant have ended, or are no longer run by a process. */
export const findEndedAmong = async (
  db: Queryable,
  tenant: number,
  ids: string[],
): Promise<string[]> => (await db.query({ tenant }, endedAmong, { ids })).rows.map(({ id }) => id);

const openOfThread = statement(
  'open-execution-of-thread',
  `select id::text as id from executions
   where tenant = $tenant and environment = $environment::"Environment" and thread_id = $threadId and not ${isOver}
     and ($callerId::text is null or background->>'callerId' = $callerId)
   order by id limit 1`,
  { id: column.text },
);

/**
 * The execution that a thread runs, or runs next; with `callerId` only those that this
 * caller has started.
 */
export async function findOpenExecution(
  db: Queryable,
  { tenant, environment }: Scope,
  threadId: string,
  callerId: string | null,
): Promise<string | null> {
  const { rows } = await db.query({ tenant }, openOfThread, { environment, threadId, callerId });
  return rows[0]?.id ?? null;
}

const cancel = statement(
  'cancel-execution',
  `update executions set status = 'failed', error = 'cancelled', finished_at = now(), lease_until = null
   where tenant = $tenant and environment = $environment::"Environment" and id = $id::bigint and ${isOpen('')}`,
);

/**
 * Ends a background execution. The process that runs it finds out at its next write, after the
 * running step, and calls no further model or tool (docs/adr/0055). Does nothing when it has ended.
 */
export const cancelExecution = async (db: Queryable, scope: Scope, id: string): Promise<void> =>
  void (await db.query(scope, cancel, { environment: scope.environment, id }));
