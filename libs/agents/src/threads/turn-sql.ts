import type { AgentDefinition, JsonObject } from '@parley/contracts';
import { type RowOf, column, leaseSql, newId, statement } from '@parley/db';
import type { SentPrompt } from './sent-prompt';
import type { BegunTurn, CallResult, HistoryRow, Progress, Turn } from './turn';

/**
 * The lease of a turn. After this time another process may continue the threads of a killed
 * process. A process that stalls for longer loses its turns, which it detects at its next write.
 */
export const leaseSeconds = 4;
const lease = leaseSql.until(leaseSeconds);

/**
 * The first position of messages of people. Positions of a turn, which may still be
 * running, are below it.
 */
export const firstPosition = 1_000_000;

/** Maximum size of the messages of a thread that are read, in bytes, as in enter_thread. */
export const maxHistoryBytes = 2 * 1_048_576;

/**
 * SQL: the size of a message and the newer ones, for statements that read the newest
 * messages of a thread.
 */
export const historyBytes = `sum(octet_length(content) + coalesce(octet_length(tool_calls::text), 0))
    over (order by execution_id desc, position desc) as bytes`;

/**
 * Maximum messages of a thread that are read. history.ts then selects the messages that fit
 * the model's window.
 */
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
                where c.tenant = $tenant and c.agent_id = t.agent_id
                  and c.environment = $environment::"Environment") as agent_revision
   from enter_thread($tenant, $environment::"Environment", $agentId, $agentSlug, $threadId, $externalThreadId,
     $newThreadId, $channel, $params::jsonb, $isChecked, $routerSlug, $owner,
     interval '${leaseSeconds} seconds', $message, $requestId, $messageId, ${historyLimit}) t`,
  begunRow,
);

/**
 * Ends turns whose lease has expired, except background executions, which another process
 * continues, and starts the turn if no earlier one is unfinished.
 */
export const claim = statement(
  'turn-claim',
  `
  with expired as (
    update executions set status = 'failed', error = 'interrupted', finished_at = now()
    where tenant = $tenant and thread_id = $threadId and id < $id and status in ('queued', 'running')
      and lease_until < now()
      and background is null
    returning id),
  mine as (
    update executions set status = 'running', started_at = now(), lease_until = ${lease}
    where tenant = $tenant and id = $id and lease_owner = $owner and status = 'queued' and not exists (
      select 1 from executions e
      where e.tenant = $tenant and e.thread_id = $threadId and e.id < $id and e.status in ('queued', 'running')
        and e.id not in (select id from expired))
    returning id)
  select exists (select 1 from mine) as claimed,
         exists (select 1 from executions where tenant = $tenant and id = $id
           and status = 'succeeded') as "isOvertaken",
         (select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id,
                                           m.author->>'name')
                          order by m.execution_id, m.position)
          from (select *, ${historyBytes} from thread_messages
                where tenant = $tenant and thread_id = $threadId and execution_id < $id and role <> 'note'
                  and exists (select 1 from mine)
                order by execution_id desc, position desc limit $limit) m
          where m.bytes <= ${maxHistoryBytes}) as history`,
  {
    claimed: column.bool,
    isOvertaken: column.bool,
    history: column.jsonb<HistoryRow[]>().nullable,
  },
);

/** The values of `progressSql`. */
export function progressValues({ agentRevision }: Turn, progress: Progress) {
  const { model, iterations, usage, steps } = progress;
  const calls = (steps as { kind?: string; status?: string }[]).filter(
    ({ kind }) => kind === 'tool',
  );
  return {
    model: model ?? null,
    iterations,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens ?? null,
    steps: JSON.stringify(steps),
    toolCallCount: calls.length,
    toolErrorCount: calls.filter(({ status }) => status === 'error').length,
    agentRevision,
  };
}

const progressSql = `model = $model, iterations = $iterations, input_tokens = $inputTokens,
   output_tokens = $outputTokens,
        reasoning_tokens = $reasoningTokens, steps = $steps, tool_call_count = $toolCallCount,
        tool_error_count = $toolErrorCount, agent_revision = $agentRevision`;

/** The values of `promptSql`. The text is null if the process knows that the prompt is stored. */
export function promptValues(prompt: SentPrompt | undefined, isStored: boolean) {
  const unstored = isStored ? undefined : prompt;
  return {
    promptHash: prompt?.hash ?? null,
    promptText: unstored?.text ?? null,
    promptBytes: unstored?.bytes ?? null,
    promptTools: unstored?.tools ?? null,
  };
}

const insertPrompt = 'insert into execution_prompts (tenant, hash, text, bytes, tools)';

/** Names the prompt of the turn, and stores it if its text is given. */
const promptSql = {
  assignment: 'prompt_hash = coalesce($promptHash, prompt_hash)',
  insert: `prompt as (
    ${insertPrompt} select $tenant, $promptHash::bytea, $promptText::text, $promptBytes::int, $promptTools::text[]
    from turn where $promptText::text is not null on conflict do nothing)`,
  /**
   * Whether the prompt is stored after the statement. It may have been erased since the
   * process stored it.
   */
  isStored: `$promptHash::bytea is null or $promptText::text is not null
     or exists (select from execution_prompts where tenant = $tenant and hash = $promptHash) as has_prompt`,
};

/** Stores a prompt that was erased since the process stored it. */
export const restorePrompt = statement(
  'turn-restore-prompt',
  `${insertPrompt} select $tenant, $hash, $text, $bytes, $tools
   where exists (select from executions where tenant = $tenant and id = $id and prompt_hash = $hash)
     on conflict do nothing`,
);

/** The values of `resultsAsCtes`. */
export const resultValues = ({ id, threadId }: Turn, results: readonly CallResult[]) => ({
  id,
  threadId,
  results: JSON.stringify(results.map((result) => ({ ...result, id: newId('msg') }))),
});

/** Stores results of calls. */
const resultsAsCtes = `
  results as (
    select * from jsonb_to_recordset($results::jsonb)
      as r (id text, "callId" text, position integer, "isError" boolean, "full" jsonb, content text)),
  ended as (
    update tool_calls t set status = (case when r."isError" then 'failed' else 'succeeded' end)::"ToolCallStatus",
                            result = r."full", finished_at = now()
    from results r where t.tenant = $tenant and t.execution_id = $id and t.call_id = r."callId"),
  answers as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_call_id)
    select id, $tenant, $threadId, $id, position, 'tool', content, "callId" from results)`;

export const recordResults = statement('turn-record-results', `with ${resultsAsCtes} select`);

/** Also renews the lease, so that no other process ends the turn while this statement runs. */
export const recordCalls = statement(
  'turn-record-calls',
  `
  with ${resultsAsCtes},
  turn as (
    update executions set lease_until = ${lease}, ${progressSql}, ${promptSql.assignment}
    where tenant = $tenant and id = $id and lease_owner = $owner and status = 'running' returning id, thread_id),
  calls as (
    insert into tool_calls (tenant, execution_id, call_id, name, args)
    select $tenant, turn.id, c.id, c.name, c.args
      from turn, jsonb_to_recordset($calls::jsonb) as c (id text, name text, args jsonb)),
  message as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
    select $messageId, $tenant, thread_id, id, $position, 'assistant', $text, $calls::jsonb from turn),
  ${promptSql.insert}
  select ${promptSql.isStored} from turn`,
  { has_prompt: column.bool },
);

export const finish = statement(
  'turn-finish',
  `
  with ${resultsAsCtes},
  turn as (
    update executions
    set status = $status::"ExecutionStatus", output = case when $status = 'succeeded' then $reply end, error = $error,
      finish_reason = $finishReason,
        finished_at = now(), lease_until = null, ${progressSql}, ${promptSql.assignment}
    where tenant = $tenant and id = $id and lease_owner = $owner and status in ('queued', 'running')
      returning id, thread_id),
  message as (
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
    select $messageId, $tenant, thread_id, id, $position, 'assistant', $reply from turn
      where $messageId::text is not null),
  ${promptSql.insert}
  select ${promptSql.isStored} from turn`,
  { has_prompt: column.bool },
);

/**
 * Stores the usage of a turn that a takeover (people.ts) or a cancellation has ended. No row: it
 * has ended otherwise.
 */
export const recordOvertaken = statement(
  'turn-record-overtaken',
  `update executions set ${progressSql}
   where tenant = $tenant and id = $id and lease_owner = $owner
     and (status = 'succeeded' and output is null or status = 'failed' and error = 'cancelled')`,
);

/**
 * Turns that ended without an answer that the provider would take back: refused, filtered or failed
 * (run-tool-loop.ts).
 */
export const refusedTurns = statement(
  'turns-refused-by-provider',
  `select id::text from executions
   where tenant = $tenant and thread_id = $threadId and id < $id::bigint
     and finish_reason in ('content_filter', 'refusal', 'error')
   order by executions.id desc limit ${historyLimit}`,
  { id: column.text },
);

export const takeNestedCall = statement(
  'turn-take-nested-call',
  `update executions set nested_model_calls = nested_model_calls + 1
   where tenant = $tenant and id = $rootId and nested_model_calls < $limit`,
);

export const restrictHistory = statement(
  'turn-restrict-history',
  `with marked as (update executions set caller_roles = $roles where tenant = $tenant and id = $id)
   select id::text from executions where tenant = $tenant and thread_id = $threadId and caller_roles = $roles
   order by executions.id desc limit ${historyLimit}`,
  { id: column.text },
);

export const release = statement(
  'turn-release',
  `update executions set ${leaseSql.release}, attempts = attempts - 1
   where tenant = $tenant and id = $id and lease_owner = $owner and status = 'running' and background is not null`,
);

export const renew = statement(
  'turn-renew',
  `update executions set lease_until = ${lease}
   where tenant = $tenant and id = any($ids::bigint[]) and lease_owner = $owner and status in ('queued', 'running')`,
);
