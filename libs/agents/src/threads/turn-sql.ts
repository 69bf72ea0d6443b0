import type { AgentDefinition, JsonObject } from '@parley/contracts';
import { type RowOf, column, leaseSql, newId, statement } from '@parley/db';
import type { SentPrompt } from './sent-prompt';
import type { BegunTurn, CallResult, HistoryRow, Progress, Turn } from './turn';

/**
 * The lease of a turn. After this time another process may continue the threads of a killed process. A process that stalls
 * for longer loses its turns, which it detects at its next write.
 */
export const leaseSeconds = 4;
const lease = leaseSql.until(leaseSeconds);

/** The first position of messages of people. Positions of a turn, which may still be running, are below it. */
export const firstPosition = 1_000_000;

/** Maximum size of the messages of a thread that are read, in bytes, as in enter_thread. */
export const maxHistoryBytes = 2 * 1_048_576;

/** SQL: the size of a message and the newer ones, for statements that read the newest messages of a thread. */
export const historyBytes = `sum(octet_length(content) + coalesce(octet_length(tool_calls::text), 0))
    over (order by execution_id desc, position desc) as bytes`;

/** Maximum messages of a thread that are read. history.ts then selects the messages that fit the model's window. */
export const historyLimit = 400;

const begunRow = {
  agent_id: column.text.nullable,
  agent_slug: column.text.nullable,
  definition: column.jsonb<Omit<AgentDefinition, 'slug'>>().nullable,
  thread_id: column.text.nullable,
  params: column.jsonb<JsonObject>().nullable,
  turn_id: column.int8.nullable,
  state: column.oneOf<BegunTurn['state']>().nullable,
  history: column.jsonb<HistoryRow[]>().nullable,
  agent_revision: column.int4.nullable,
};
export type BegunRow = RowOf<typeof begunRow>;

/**
 * The rules that select the thread of a message are in the comment of enter_thread, in
 * prisma/migrations.
 */
export const enterThread = statement(
  'turn-enter',
  `select t.*, (select revision from agent_configs c
                where c.tenant = $1 and c.agent_id = t.agent_id and c.environment = $2::"Environment") as agent_revision
   from enter_thread($1, $2::"Environment", $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12,
     interval '${leaseSeconds} seconds', $13, $14, $15, ${historyLimit}) t`,
  begunRow,
);

/**
 * Ends turns whose lease has expired, except background executions, which another process continues, and starts the turn if no earlier one is unfinished.
 * Parameters: tenant, thread, turn, owner, history limit.
 */
export const claim = statement(
  'turn-claim',
  `
  with expired as (
    update executions set status = 'failed', error = 'interrupted', finished_at = now()
    where tenant = $1 and thread_id = $2 and id < $3 and status in ('queued', 'running') and lease_until < now()
      and background is null
    returning id),
  mine as (
    update executions set status = 'running', started_at = now(), lease_until = ${lease}
    where tenant = $1 and id = $3 and lease_owner = $4 and status = 'queued' and not exists (
      select 1 from executions e
      where e.tenant = $1 and e.thread_id = $2 and e.id < $3 and e.status in ('queued', 'running')
        and e.id not in (select id from expired))
    returning id)
  select exists (select 1 from mine) as claimed,
         exists (select 1 from executions where tenant = $1 and id = $3 and status = 'succeeded') as "isOvertaken",
         (select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id,
                                           m.author->>'name')
                          order by m.execution_id, m.position)
          from (select *, ${historyBytes} from thread_messages
                where tenant = $1 and thread_id = $2 and execution_id < $3 and role <> 'note' and exists (select 1 from mine)
                order by execution_id desc, position desc limit $5) m
          where m.bytes <= ${maxHistoryBytes}) as history`,
  {
    claimed: column.bool,
    isOvertaken: column.bool,
    history: column.jsonb<HistoryRow[]>().nullable,
  },
);

export const progressValues = (
  { agentRevision }: Turn,
  { model, iterations, usage, steps }: Progress,
  prompt: SentPrompt | undefined,
  isPromptStored: boolean,
): unknown[] => {
  const calls = (steps as { kind?: string; status?: string }[]).filter(
    ({ kind }) => kind === 'tool',
  );
  return [
    model ?? null,
    iterations,
    usage.inputTokens,
    usage.outputTokens,
    usage.reasoningTokens ?? null,
    JSON.stringify(steps),
    calls.length,
    calls.filter(({ status }) => status === 'error').length,
    agentRevision,
    prompt?.hash ?? null,
    ...(prompt === undefined || isPromptStored
      ? [null, null, null]
      : [prompt.text, prompt.bytes, prompt.tools]),
  ];
};

/** Assigns the columns of the turn in `progressValues`, which begin at parameter `$first`. */
const progressFrom = (first: number): string =>
  [
    ...[
      'model',
      'iterations',
      'input_tokens',
      'output_tokens',
      'reasoning_tokens',
      'steps',
      'tool_call_count',
    ]
      .concat('tool_error_count')
      .map((column, index) => `${column} = $${first + index}`),
    `agent_revision = $${first + 8}`,
    `prompt_hash = coalesce($${first + 9}, prompt_hash)`,
  ].join(', ');

const insertPrompt = 'insert into execution_prompts (tenant, hash, text, bytes, tools)';

/** Stores the prompt of `progressValues`, unless the process knows that it is stored. */
const promptFrom = (first: number): string =>
  `prompt as (${insertPrompt} select $1, $${first + 9}::bytea, $${first + 10}::text, $${first + 11}::int, $${first + 12}::text[]
              from turn where $${first + 10}::text is not null on conflict do nothing)`;

/** Whether the prompt is stored after the statement. It may have been erased since the process stored it. */
const hasPromptFrom = (first: number): string =>
  `$${first + 9}::bytea is null or $${first + 10}::text is not null
     or exists (select from execution_prompts where tenant = $1 and hash = $${first + 9}) as has_prompt`;

/** Stores a prompt that was erased since the process stored it. */
export const restorePrompt = statement(
  'turn-restore-prompt',
  `${insertPrompt} select $1, $3, $4, $5, $6
   where exists (select from executions where tenant = $1 and id = $2 and prompt_hash = $3) on conflict do nothing`,
);

export const resultValues = (turn: Turn, results: readonly CallResult[]): unknown[] => [
  turn.tenant,
  turn.id,
  turn.threadId,
  JSON.stringify(results.map((result) => ({ ...result, id: newId('msg') }))),
];

/** Stores results of calls. Its parameters are `resultValues`. */
const resultsAsCtes = `
  results as (
    select * from jsonb_to_recordset($4::jsonb)
      as r (id text, "callId" text, position integer, "isError" boolean, "full" jsonb, content text)),
  ended as (
    update tool_calls t set status = (case when r."isError" then 'failed' else 'succeeded' end)::"ToolCallStatus",
                            result = r."full", finished_at = now()
    from results r where t.tenant = $1 and t.execution_id = $2 and t.call_id = r."callId"),
  answers as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_call_id)
    select id, $1, $3, $2, position, 'tool', content, "callId" from results)`;

export const recordResults = statement('turn-record-results', `with ${resultsAsCtes} select`);

/** Also renews the lease, so that no other process ends the turn while this statement runs. */
export const recordCalls = statement(
  'turn-record-calls',
  `
  with ${resultsAsCtes},
  turn as (
    update executions set lease_until = ${lease}, ${progressFrom(10)}
    where tenant = $1 and id = $2 and lease_owner = $5 and status = 'running' returning id, thread_id),
  calls as (
    insert into tool_calls (tenant, execution_id, call_id, name, args)
    select $1, turn.id, c.id, c.name, c.args from turn, jsonb_to_recordset($9::jsonb) as c (id text, name text, args jsonb)),
  message as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
    select $6, $1, thread_id, id, $7, 'assistant', $8, $9::jsonb from turn),
  ${promptFrom(10)}
  select ${hasPromptFrom(10)} from turn`,
  { has_prompt: column.bool },
);

export const finish = statement(
  'turn-finish',
  `
  with ${resultsAsCtes},
  turn as (
    update executions
    set status = $6::"ExecutionStatus", output = case when $6 = 'succeeded' then $7 end, error = $8, finish_reason = $11,
        finished_at = now(), lease_until = null, ${progressFrom(12)}
    where tenant = $1 and id = $2 and lease_owner = $5 and status in ('queued', 'running') returning id, thread_id),
  message as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
    select $9, $1, thread_id, id, $10, 'assistant', $7 from turn where $9::text is not null),
  ${promptFrom(12)}
  select ${hasPromptFrom(12)} from turn`,
  { has_prompt: column.bool },
);

/** Stores the usage of a turn that a takeover (people.ts) or a cancellation has ended. No row: it has ended otherwise. */
export const recordOvertaken = statement(
  'turn-record-overtaken',
  `update executions set ${progressFrom(4)}
   where tenant = $1 and id = $2 and lease_owner = $3
     and (status = 'succeeded' and output is null or status = 'failed' and error = 'cancelled')`,
);

/** Turns that ended without an answer that the provider would take back: refused, filtered or failed (run-tool-loop.ts). */
export const refusedTurns = statement(
  'turns-refused-by-provider',
  `select id::text from executions
   where tenant = $1 and thread_id = $2 and id < $3::bigint and finish_reason in ('content_filter', 'refusal', 'error')
   order by executions.id desc limit ${historyLimit}`,
  { id: column.text },
);

export const takeNestedCall = statement(
  'turn-take-nested-call',
  `update executions set nested_model_calls = nested_model_calls + 1
   where tenant = $1 and id = $2 and nested_model_calls < $3`,
);

export const restrictHistory = statement(
  'turn-restrict-history',
  `with marked as (update executions set caller_roles = $4 where tenant = $1 and id = $3)
   select id::text from executions where tenant = $1 and thread_id = $2 and caller_roles = $4
   order by executions.id desc limit ${historyLimit}`,
  { id: column.text },
);

export const release = statement(
  'turn-release',
  `update executions set ${leaseSql.release}, attempts = attempts - 1
   where tenant = $1 and id = $2 and lease_owner = $3 and status = 'running' and background is not null`,
);

export const renew = statement(
  'turn-renew',
  `update executions set lease_until = ${lease}
   where tenant = $1 and id = any($2::bigint[]) and lease_owner = $3 and status in ('queued', 'running')`,
);
