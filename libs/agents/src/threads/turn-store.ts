import type { AgentDefinition, Json, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId } from '@parley/db';
import type { AgentFailure, LoadedAgent } from '../load-agent';

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

export interface Entrance {
  agent: { id: string } | { slug: string };
  /** A `threadId` goes before an `externalThreadId`; without both the thread is new. */
  threadId?: string;
  externalThreadId?: string;
  routerSlug?: string;
  channel: string;
  message: string;
  params: JsonObject;
  /** Whether `params` fit what the agent declares; else nothing is begun if it declares any. */
  isChecked: boolean;
  requestId?: string;
}

export interface BegunTurn extends Turn {
  /** `running`: there is nothing to wait for. `stored`: a person has taken over, nobody answers. */
  state: 'running' | 'queued' | 'stored';
  /** Of a running turn. */
  history: HistoryRow[];
}

export type Entered =
  | AgentFailure
  | { ok: false; reason: 'thread_not_found' }
  /** `params` are all of the thread's, with those of this message. */
  | { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject }
  /** The agent declares params: `params` are those stored so far. */
  | { ok: true; agent: LoadedAgent; turn: null; params: JsonObject };

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

/** What a turn has used so far. */
export interface Progress {
  model?: string;
  iterations: number;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number };
  steps: readonly Json[];
}

export interface TurnOutcome extends Progress {
  status: 'succeeded' | 'failed';
  /** Null stores no reply. */
  reply: { id: string; position: number; content: string } | null;
  error?: string;
}

/** What a call came to: in full, and as the model sees it. */
export interface CallResult {
  callId: string;
  position: number;
  isError: boolean;
  full: Json;
  content: string;
}

/** How many messages of a thread are read at most; what fits the model's window is decided after. */
const historyLimit = 400;

/** The rows that make a turn: every one of its states is one statement, so a crash leaves it before or after. */
export function createTurnStore(db: Queryable, owner: string) {
  return {
    /**
     * Reads the agent and stores the message as a turn at the end of its thread's line, in one call. The thread's row is
     * locked first, so ids of turns are given, and seen by others, in the order of arrival. A turn with no unfinished
     * one before it begins at once.
     */
    async enter(scope: Scope, { agent, threadId, externalThreadId, ...entrance }: Entrance): Promise<Entered> {
      const { rows } = await db.query<EnteredRow>({
        name: 'turn-enter',
        text: `select * from enter_thread($1, $2::"Environment", $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12,
                 interval '${leaseSeconds} seconds', $13, $14, $15, ${historyLimit})`,
        values: [
          scope.organizationId,
          scope.environment,
          'id' in agent ? agent.id : null,
          'slug' in agent ? agent.slug : null,
          threadId ?? null,
          externalThreadId ?? null,
          newId('thread'),
          entrance.channel,
          JSON.stringify(entrance.params),
          entrance.isChecked,
          entrance.routerSlug ?? null,
          owner,
          entrance.message,
          entrance.requestId ?? null,
          newId('msg'),
        ],
      });
      return toEntered(rows[0]!, threadId !== undefined);
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

    /**
     * Stores what the model asked for, before any of it is done, and what the turn has used so far: a killed turn keeps it.
     * False: this process has lost the turn.
     */
    async recordCalls(
      turn: Turn,
      step: {
        position: number;
        text: string;
        calls: readonly StoredToolCall[];
        progress: Progress;
        results: readonly CallResult[];
      },
    ): Promise<boolean> {
      const { rowCount } = await db.query({
        name: 'turn-record-calls',
        text: recordCallsSql,
        values: [
          ...resultValues(turn, step.results),
          owner,
          newId('msg'),
          step.position,
          step.text,
          JSON.stringify(step.calls),
          ...progressValues(step.progress),
        ],
      });
      return rowCount === 1;
    },

    /** Stores what calls came to, also for a turn that was lost meanwhile. */
    async recordResults(turn: Turn, results: readonly CallResult[]): Promise<void> {
      await db.query({ name: 'turn-record-results', text: recordResultsSql, values: resultValues(turn, results) });
    },

    /** Ends a turn and stores its reply. False: this process had lost it, no reply was stored. */
    async finish(turn: Turn, outcome: TurnOutcome, results: readonly CallResult[] = []): Promise<boolean> {
      const { rowCount } = await db.query({
        name: 'turn-finish',
        text: finishSql,
        values: [
          ...resultValues(turn, results),
          owner,
          outcome.status,
          outcome.reply?.content ?? null,
          outcome.error ?? null,
          outcome.reply?.id ?? null,
          outcome.reply?.position ?? null,
          ...progressValues(outcome),
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

interface EnteredRow {
  agent_id: string | null;
  agent_slug: string | null;
  definition: Omit<AgentDefinition, 'slug'> | null;
  thread_id: string | null;
  params: JsonObject | null;
  turn_id: string | null;
  state: BegunTurn['state'] | null;
  history: HistoryRow[] | null;
}

function toEntered(row: EnteredRow, isThreadKnown: boolean): Entered {
  const { agent_id: id, agent_slug: slug, definition, thread_id: threadId, turn_id: turnId, state } = row;
  if (id === null || slug === null) return { ok: false, reason: 'agent_not_found' };
  if (definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  if (isThreadKnown && threadId === null) return { ok: false, reason: 'thread_not_found' };
  const agent: LoadedAgent = { id, definition: { ...definition, slug } };
  const params = row.params ?? {};
  if (threadId === null || turnId === null || state === null) return { ok: true, agent, turn: null, params };
  return { ok: true, agent, turn: { id: turnId, threadId, state, history: row.history ?? [] }, params };
}

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

const progressValues = ({ model, iterations, usage, steps }: Progress): unknown[] => [
  model ?? null,
  iterations,
  usage.inputTokens,
  usage.outputTokens,
  usage.reasoningTokens ?? null,
  JSON.stringify(steps),
];

/** Sets what `progressValues` holds, from parameter `$n`. */
const progressFrom = (first: number): string =>
  ['model', 'iterations', 'input_tokens', 'output_tokens', 'reasoning_tokens', 'steps']
    .map((column, index) => `${column} = $${first + index}`)
    .join(', ');

const resultValues = (turn: Turn, results: readonly CallResult[]): unknown[] => [
  turn.id,
  turn.threadId,
  JSON.stringify(results.map((result) => ({ ...result, id: newId('msg') }))),
];

/** Stores results of calls; its parameters are `resultValues`. */
const resultsAsCtes = `
  results as (
    select * from jsonb_to_recordset($3::jsonb)
      as r (id text, "callId" text, position integer, "isError" boolean, "full" jsonb, content text)),
  ended as (
    update tool_calls t set status = (case when r."isError" then 'failed' else 'succeeded' end)::"ToolCallStatus",
                            result = r."full", finished_at = now()
    from results r where t.execution_id = $1 and t.call_id = r."callId"),
  answers as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content, tool_call_id)
    select id, $2, $1, position, 'tool', content, "callId" from results)`;

const recordResultsSql = `with ${resultsAsCtes} select 1`;

/** Renews the lease as well: whoever holds it may go on, and whoever would take it must wait for this statement. */
const recordCallsSql = `
  with ${resultsAsCtes},
  turn as (
    update executions set lease_until = ${lease}, ${progressFrom(9)}
    where id = $1 and lease_owner = $4 and status = 'running' returning id, thread_id),
  calls as (
    insert into tool_calls (execution_id, call_id, name, args)
    select turn.id, c.id, c.name, c.args from turn, jsonb_to_recordset($8::jsonb) as c (id text, name text, args jsonb)),
  message as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content, tool_calls)
    select $5, thread_id, id, $6, 'assistant', $7, $8::jsonb from turn)
  select id from turn`;

const finishSql = `
  with ${resultsAsCtes},
  turn as (
    update executions
    set status = $5::"ExecutionStatus", output = $6, error = $7, finished_at = now(), lease_until = null,
        ${progressFrom(10)}
    where id = $1 and lease_owner = $4 and status in ('queued', 'running') returning id, thread_id),
  message as (
    insert into thread_messages (id, thread_id, execution_id, position, role, content)
    select $8, thread_id, id, $9, 'assistant', $6 from turn where $8::text is not null)
  select id from turn`;
