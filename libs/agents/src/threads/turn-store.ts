import type { Json, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId } from '@parley/db';

/**
 * How long a turn lives without a sign from its process. A killed process frees its threads after this long; a process
 * that stalls longer loses its turns, and finds that out at its next write.
 */
export const leaseSeconds = 4;
const lease = `now() + interval '${leaseSeconds} seconds'`;

/** A conversation that is idle this long starts its transfers anew (decisions.md, Chat). */
export const idle = `interval '4 hours'`;

/** A turn that this process owns, queued or running. */
export interface Turn {
  id: string;
  threadId: string;
}

export interface NewTurn {
  agentSlug: string;
  routerSlug?: string;
  channel: string;
  message: string;
  params: JsonObject;
  requestId?: string;
}

export interface BegunTurn extends Turn {
  /** `running`: the thread is new, there is nothing to wait for. `stored`: a person has taken over, nobody answers. */
  state: 'running' | 'queued' | 'stored';
}

export interface StoredToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

/** One stored message: execution, role, text, calls, and the call it answers. */
export type HistoryRow = [
  executionId: string,
  role: 'user' | 'assistant' | 'tool',
  content: string,
  toolCalls: StoredToolCall[] | null,
  toolCallId: string | null,
];

export interface TurnOutcome {
  status: 'succeeded' | 'failed';
  /** Null stores no reply. */
  reply: { id: string; position: number; content: string } | null;
  error?: string;
  model?: string;
  iterations: number;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number };
  steps: Json[];
}

/** How many messages of a thread are read at most; what fits the model's window is decided after. */
const historyLimit = 400;

/** The rows that make a turn: every one of its states is one statement, so a crash leaves it before or after. */
export function createTurnStore(db: Queryable, owner: string) {
  return {
    /**
     * Stores the message as a turn of its thread, at the end of the thread's line. The thread's row is locked first, so
     * ids of turns are given, and seen by others, in the order of arrival. Null when the thread is gone.
     */
    async begin(
      scope: Scope,
      thread: { id: string } | { externalId: string | null },
      turn: NewTurn,
    ): Promise<BegunTurn | null> {
      const isKnown = 'id' in thread;
      const { rows } = await db.query<{ id: string; thread_id: string; state: BegunTurn['state'] }>({
        name: isKnown ? 'turn-begin-known' : 'turn-begin-new',
        text: isKnown ? beginKnown : beginNew,
        values: [
          scope.organizationId,
          scope.environment,
          isKnown ? thread.id : newId('thread'),
          ...(isKnown ? [] : [thread.externalId, turn.channel]),
          turn.agentSlug,
          JSON.stringify(turn.params),
          turn.routerSlug ?? null,
          owner,
          turn.message,
          turn.requestId ?? null,
          newId('msg'),
        ],
      });
      const row = rows[0];
      return row ? { id: row.id, threadId: row.thread_id, state: row.state } : null;
    },

    /**
     * Starts a turn when all earlier ones of its thread are over, and then gives the thread's history. Turns whose
     * process has died are ended on the way. Null: not yet.
     */
    async claim(turn: Turn): Promise<HistoryRow[] | null> {
      const { rows } = await db.query<{ claimed: boolean; history: HistoryRow[] | null }>({
        name: 'turn-claim',
        text: claimSql,
        values: [turn.threadId, turn.id, owner, historyLimit],
      });
      return rows[0]?.claimed ? (rows[0].history ?? []) : null;
    },

    /** Stores what the model asked for, before any of it is done. False: this process has lost the turn. */
    async recordCalls(turn: Turn, position: number, text: string, calls: readonly StoredToolCall[]): Promise<boolean> {
      const { rowCount } = await db.query({
        name: 'turn-record-calls',
        text: recordCallsSql,
        values: [turn.id, owner, newId('msg'), position, text, JSON.stringify(calls)],
      });
      return rowCount === 1;
    },

    /** Stores what a call came to: in full, and as the model sees it. Also for a turn that was lost meanwhile. */
    async recordResult(
      turn: Turn,
      position: number,
      call: { id: string; isError: boolean; full: Json; content: string },
    ): Promise<void> {
      await db.query({
        name: 'turn-record-result',
        text: recordResultSql,
        values: [
          turn.id,
          call.id,
          call.isError ? 'failed' : 'succeeded',
          JSON.stringify(call.full),
          newId('msg'),
          turn.threadId,
          position,
          call.content,
        ],
      });
    },

    /** Ends a turn and stores its reply. False: this process had lost it, nothing was stored. */
    async finish(turn: Turn, outcome: TurnOutcome): Promise<boolean> {
      const { rowCount } = await db.query({
        name: 'turn-finish',
        text: finishSql,
        values: [
          turn.id,
          owner,
          outcome.status,
          outcome.reply?.content ?? null,
          outcome.model ?? null,
          outcome.iterations,
          outcome.usage.inputTokens,
          outcome.usage.outputTokens,
          outcome.usage.reasoningTokens ?? null,
          JSON.stringify(outcome.steps),
          outcome.error ?? null,
          outcome.reply?.id ?? null,
          outcome.reply?.position ?? null,
        ],
      });
      return rowCount === 1;
    },

    /** The sign of life of this process's turns. */
    async renew(turnIds: string[]): Promise<void> {
      await db.query({
        name: 'turn-renew',
        text: `update executions set lease_until = ${lease}
               where id = any($1::bigint[]) and lease_owner = $2 and status in ('queued', 'running')`,
        values: [turnIds, owner],
      });
    },
  };
}

export type TurnStore = ReturnType<typeof createTurnStore>;

/** The turn and its user message, from a CTE `thread (id, agent_paused, is_new)`; parameters start at `$n`. */
const turnOf = (first: number) => {
  const p = (offset: number) => `$${first + offset}`;
  return `turn as (
    insert into executions (organization_id, environment, thread_id, agent_slug, router_slug, status, lease_owner,
                            lease_until, input, request_id, started_at, finished_at)
    select $1, $2::"Environment", id, ${p(1)}, ${p(3)},
           (case when agent_paused then 'succeeded' when is_new then 'running' else 'queued' end)::"ExecutionStatus",
           case when not agent_paused then ${p(4)} end, case when not agent_paused then ${lease} end, ${p(5)}, ${p(6)},
           case when is_new or agent_paused then now() end, case when agent_paused then now() end
    from thread returning id, thread_id, status),
  message as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content)
    select ${p(7)}, thread_id, id, 0, 'user', ${p(5)} from turn)
  select id::text as id, thread_id,
         case status when 'succeeded' then 'stored' else status::text end as state from turn`;
};

const touched = `last_message_at = now(), updated_at = now(),
  transfer_count = case when threads.last_message_at < now() - ${idle} then 0 else threads.transfer_count end`;

/** A router's choice, made before the thread was locked, does not undo a transfer. */
const agentOf = (agentSlug: string, routerSlug: string) => `case
  when ${routerSlug}::text is not null and threads.transfer_count > 0 and threads.last_message_at >= now() - ${idle}
  then threads.agent_slug else ${agentSlug} end`;

const beginKnown = `
  with thread as (
    update threads set ${touched}, agent_slug = ${agentOf('$4', '$6')}, params = threads.params || $5::jsonb
    where id = $3 and organization_id = $1 and environment = $2::"Environment"
    returning id, agent_paused, false as is_new),
  ${turnOf(3)}`;

/** `xmax` is 0 in a row that this statement made: the thread is new, so this is its first turn. */
const beginNew = `
  with thread as (
    insert into threads (id, organization_id, environment, external_id, channel, agent_slug, params, last_message_at,
                         updated_at)
    values ($3, $1, $2::"Environment", $4, $5, $6, $7::jsonb, now(), now())
    on conflict (organization_id, environment, external_id) do update
      set ${touched}, agent_slug = ${agentOf('$6', '$8')}, params = threads.params || excluded.params
    returning id, agent_paused, xmax = 0 as is_new),
  ${turnOf(5)}`;

const claimSql = `
  with expired as (
    update executions set status = 'failed', error = 'interrupted', finished_at = now()
    where thread_id = $1 and id < $2 and status in ('queued', 'running') and lease_until < now()
    returning id),
  mine as (
    update executions set status = 'running', started_at = now(), lease_until = ${lease}
    where id = $2 and lease_owner = $3 and status = 'queued' and not exists (
      select 1 from executions e
      where e.thread_id = $1 and e.id < $2 and e.status in ('queued', 'running')
        and e.id not in (select id from expired))
    returning id)
  select exists (select 1 from mine) as claimed,
         (select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id)
                          order by m.execution_id, m.position)
          from (select * from thread_messages
                where thread_id = $1 and execution_id < $2 and exists (select 1 from mine)
                order by execution_id desc, position desc limit $4) m) as history`;

/** Renews the lease as well: whoever holds it may go on, and whoever would take it must wait for this statement. */
const recordCallsSql = `
  with turn as (
    update executions set lease_until = ${lease}
    where id = $1 and lease_owner = $2 and status = 'running' returning id, thread_id),
  calls as (
    insert into tool_calls (execution_id, call_id, name, args)
    select turn.id, c.id, c.name, c.args from turn, jsonb_to_recordset($6::jsonb) as c (id text, name text, args jsonb)),
  message as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content, tool_calls)
    select $3, thread_id, id, $4, 'assistant', $5, $6::jsonb from turn)
  select id from turn`;

const recordResultSql = `
  with call as (
    update tool_calls set status = $3::"ToolCallStatus", result = $4::jsonb, finished_at = now()
    where execution_id = $1 and call_id = $2)
  insert into thread_messages (id, thread_id, execution_id, position, role, content, tool_call_id)
  values ($5, $6, $1, $7, 'tool', $8, $2)`;

const finishSql = `
  with turn as (
    update executions
    set status = $3::"ExecutionStatus", output = $4, model = $5, iterations = $6, input_tokens = $7, output_tokens = $8,
        reasoning_tokens = $9, steps = $10::jsonb, error = $11, finished_at = now(), lease_until = null
    where id = $1 and lease_owner = $2 and status in ('queued', 'running') returning id, thread_id),
  message as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content)
    select $12, thread_id, id, $13, 'assistant', $4 from turn where $12::text is not null)
  select id from turn`;
