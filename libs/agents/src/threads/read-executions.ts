import type { FinishReason, Scope, ToolCallSummary } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  statement,
  toPaged,
} from '@parley/db';
import type { Explanation } from '@parley/permissions';
import { listedContentChars, toolCallIds } from './list-messages';

/**
 * The stored status, with three derived ones. `stored`: succeeded without an answer, because a
 * person had taken the thread over. `stalled`: the lease has expired; the thread's next message
 * ends the execution as failed. A background execution is continued instead. `cancelled`: a
 * background execution was cancelled.
 */
export type ExecutionState =
  'queued' | 'running' | 'stalled' | 'succeeded' | 'stored' | 'failed' | 'cancelled';

const summaryRow = {
  id: column.text,
  threadId: column.text,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  status: column.oneOf<ExecutionState>(),
  /** The message; in a list only its beginning. */
  input: column.text,
  model: column.text.nullable,
  /**
   * Revision of the agent's configuration with which the turn began; null for executions before
   * revisions were stored.
   */
  agentRevision: column.int4.nullable,
  /** Number of model calls that were answered. */
  iterations: column.int4,
  toolCallCount: column.int4,
  /** Tool calls that failed or were denied. */
  toolErrorCount: column.int4,
  inputTokens: column.int4,
  outputTokens: column.int4,
  reasoningTokens: column.int4.nullable,
  error: column.text.nullable,
  finishReason: column.oneOf<FinishReason>().nullable,
  requestId: column.text.nullable,
  createdAt: column.timestamptz,
  startedAt: column.timestamptz.nullable,
  finishedAt: column.timestamptz.nullable,
};

export type ExecutionSummary = RowOf<typeof summaryRow>;

/** A step as the tool loop recorded it (run-tool-loop.ts). */
interface RecordedStep extends ToolCallSummary {
  kind: 'model' | 'tool';
  /** Only for a tool call. */
  callId?: string;
  /** Only for a tool call: which role and policy allowed or denied it. */
  permission?: Explanation;
  /** Only for a model call. `routing`: a router let the model choose the agent. */
  purpose?: 'routing';
  inputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  error?: string;
  /** Only for a model call that was answered. */
  finishReason?: FinishReason;
}

const wholeRow = {
  ...summaryRow,
  /** Whether `input` is only the beginning of the message. */
  isInputTruncated: column.bool,
  output: column.text.nullable,
  steps: column.jsonb<RecordedStep[]>(),
  /** The prompt that was sent, for `readPrompt`; null before the first step is stored. */
  promptHash: column.bytea.nullable,
  /** Id of the key or person that started it in the background; null for other turns. */
  startedBy: column.text.nullable,
};

const messageRow = {
  id: column.text,
  role: column.oneOf<'user' | 'assistant'>(),
  /** Its first characters. */
  content: column.text,
  isTruncated: column.bool,
  toolCallIds: column.textArray,
  createdAt: column.timestamptz,
};

export type StoredExecution = RowOf<typeof wholeRow>;

const state = `case
  when e.status in ('queued', 'running') and e.lease_until < now() and e.background is null then 'stalled'
  when e.status = 'failed' and e.error = 'cancelled' then 'cancelled'
  when e.status = 'succeeded' and e.output is null then 'stored'
  else e.status::text end`;

const columns = `e.id::text as id, e.thread_id as "threadId", e.agent_slug as "agentSlug",
  e.router_slug as "routerSlug", ${state} as status, e.model, e.agent_revision as "agentRevision", e.iterations,
  e.tool_call_count as "toolCallCount", e.tool_error_count as "toolErrorCount", e.input_tokens as "inputTokens",
  e.output_tokens as "outputTokens", e.reasoning_tokens as "reasoningTokens", e.error, e.finish_reason as "finishReason",
  e.request_id as "requestId",
  e.created_at as "createdAt", e.started_at as "startedAt", e.finished_at as "finishedAt"`;

/** Characters of the message of one execution. A message of the chat API has up to 8 MiB. */
const wholeInputChars = 1_048_576;
const wholeColumns = `${columns}, left(e.input, ${wholeInputChars}) as input,
  octet_length(e.input) > octet_length(left(e.input, ${wholeInputChars})) as "isInputTruncated", e.output, e.steps, e.prompt_hash as "promptHash",
  e.background->>'callerId' as "startedBy"`;

/** More than the messages of any turn, whose model is called at most ten times. */
const maxMessages = 1_000;

/** Maximum characters of the message in a list. */
const inputChars = 200;

/** The expression of the indexes executions_outcome_idx and executions_agent_outcome_idx. */
export const outcome = `(case when e.status = 'succeeded' and e.output is null then 'stored'
  when e.status = 'succeeded' then 'succeeded' when e.status = 'failed' then 'failed' else 'open' end)`;
const outcomes = ['open', 'stored', 'succeeded', 'failed'];

const outcomeOf = (status: ExecutionState): string =>
  ['queued', 'running', 'stalled'].includes(status)
    ? 'open'
    : status === 'cancelled'
      ? 'failed'
      : status;

const filtered =
  'e.id < $beforeId::bigint and e.id >= $sinceId::bigint and ($status::text is null or ' +
  `${state} = $status)`;

/**
 * Reads the first rows of each outcome, with and without tool errors, from an index that has them
 * in the order of the list. One index condition for all filters would read past every row that a
 * filter leaves out.
 */
const pageOf = (agent: string) => `
  select ${columns}, left(e.input, ${inputChars}) as input
  from (select found.id from unnest($outcomes::text[]) as o (outcome), unnest($hasErrors::boolean[]) as x (has_errors),
          lateral (select e.id from executions e
                   where e.tenant = $tenant and e.environment = $environment::"Environment" ${agent}
                     and ${outcome} = o.outcome and (e.tool_error_count > 0) = x.has_errors and ${filtered}
                   order by e.id desc limit $limit) found
        order by found.id desc limit $limit) page
  join executions e on e.tenant = $tenant and e.id = page.id
  order by e.id desc`;

const list = listStatement('list-executions', pageOf(''), summaryRow);
const listOfAgent = listStatement(
  'list-executions-of-agent',
  pageOf('and e.agent_slug = $agentSlug'),
  summaryRow,
);

const listOfThread = listStatement(
  'list-executions-of-thread',
  `select ${columns}, left(e.input, ${inputChars}) as input from executions e
   where e.tenant = $tenant and e.environment = $environment::"Environment" and e.thread_id = $threadId
     and ${outcome} = any($outcomes) and (e.tool_error_count > 0) = any($hasErrors) and ${filtered}
     and ($agentSlug::text is null or e.agent_slug = $agentSlug)
   order by e.id desc limit $limit`,
  summaryRow,
);

export interface ExecutionFilters {
  threadId?: string;
  agentSlug?: string;
  status?: ExecutionState;
  /** Only executions with a failed or denied tool call. */
  toolErrors?: boolean;
  /** Only executions that began at this time or later. */
  since?: Date;
}

const maxId = 2n ** 63n - 1n;

/** The smallest id of an execution of this time: ids are made from milliseconds (docs/adr/0034). */
export const firstIdAt = (time: Date): bigint => {
  const id = BigInt(Math.max(0, Math.floor(time.getTime()))) << 21n;
  return id > maxId ? maxId : id;
};

/**
 * Executions of an environment, newest first. Executions that are added between two pages do not
 * move later pages.
 */
export async function listExecutions(
  db: Queryable,
  scope: Scope,
  {
    threadId,
    agentSlug,
    status,
    toolErrors = false,
    since,
    limit,
    before,
  }: Page & ExecutionFilters,
): Promise<Paged<ExecutionSummary>> {
  const values = {
    environment: scope.environment,
    outcomes: status === undefined ? outcomes : [outcomeOf(status)],
    hasErrors: toolErrors ? [true] : [true, false],
    beforeId: before?.id ?? String(maxId),
    sinceId: String(since === undefined ? 0 : firstIdAt(since)),
    status: status ?? null,
    limit: limit + 1,
  };
  const { rows } =
    threadId !== undefined
      ? await db.query(scope, listOfThread, { ...values, threadId, agentSlug: agentSlug ?? null })
      : agentSlug !== undefined
        ? await db.query(scope, listOfAgent, { ...values, agentSlug })
        : await db.query(scope, list, values);
  return toPaged(rows, { limit, before }, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const byId = statement(
  'find-execution',
  `select ${wholeColumns} from executions e
   where e.tenant = $tenant and e.environment = $environment::"Environment" and e.id = $id::bigint`,
  wholeRow,
);

/** One execution, as it is stored; null when the environment has no such execution. */
export async function readExecution(
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<StoredExecution | null> {
  return (await db.query(scope, byId, { environment: scope.environment, id })).rows[0] ?? null;
}

const messagesOfExecution = listStatement(
  'messages-of-execution',
  `select m.id, m.role::text as role, left(m.content, ${listedContentChars}) as content,
          octet_length(m.content) > octet_length(left(m.content, ${listedContentChars})) as "isTruncated",
          ${toolCallIds} as "toolCallIds", m.created_at as "createdAt"
   from thread_messages m
   where m.tenant = $tenant and m.execution_id = $executionId::bigint and m.author is null and m.role <> 'tool'
   order by m.position limit ${maxMessages}`,
  messageRow,
);

/**
 * The messages of an execution in their order, without those of tools, each with its
 * first characters.
 */
export async function readMessages(db: Queryable, scope: Scope, executionId: string) {
  return (await db.query(scope, messagesOfExecution, { executionId })).rows;
}
