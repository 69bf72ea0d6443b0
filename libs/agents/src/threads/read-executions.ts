import { type UndeliveredReply, undeliveredReplies } from '@parley/channels';
import type { Json, Scope, ToolCallSummary } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';
import type { StoredToolCall } from './turn';

/**
 * The stored status, with two derived ones. `stored`: succeeded without an answer, because a person had taken the thread
 * over. `stalled`: the lease has expired; the thread's next message ends the execution as failed.
 */
type ExecutionState = 'queued' | 'running' | 'stalled' | 'succeeded' | 'stored' | 'failed';

const summaryRow = {
  id: column.text,
  threadId: column.text,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  status: column.oneOf<ExecutionState>(),
  /** The message; in a list only its beginning. */
  input: column.text,
  model: column.text.nullable,
  /** Number of model calls that were answered. */
  iterations: column.int4,
  inputTokens: column.int4,
  outputTokens: column.int4,
  reasoningTokens: column.int4.nullable,
  error: column.text.nullable,
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
  /** Only for a model call. */
  inputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  error?: string;
}

const wholeRow = { ...summaryRow, output: column.text.nullable, steps: column.jsonb<RecordedStep[]>() };

const messageRow = {
  executionId: column.text,
  id: column.text,
  position: column.int4,
  role: column.oneOf<'user' | 'assistant' | 'tool'>(),
  content: column.text,
  toolCalls: column.jsonb<StoredToolCall[]>().nullable,
  toolCallId: column.text.nullable,
  createdAt: column.timestamptz,
};

const callRow = {
  executionId: column.text,
  callId: column.text,
  name: column.text,
  args: column.jsonb<Json>(),
  status: column.oneOf<'started' | 'succeeded' | 'failed'>(),
  /** The full result: `{ ok, result }` or `{ ok, errorType, message }`. */
  result: column.jsonb<Json>().nullable,
  startedAt: column.timestamptz,
  finishedAt: column.timestamptz.nullable,
};

export interface Execution extends RowOf<typeof wholeRow> {
  messages: RowOf<typeof messageRow>[];
  toolCalls: RowOf<typeof callRow>[];
  /** Messages of the reply that were not delivered, or may not have been delivered. */
  undelivered: UndeliveredReply[];
}

const state = `case
  when e.status in ('queued', 'running') and e.lease_until < now() then 'stalled'
  when e.status = 'succeeded' and e.output is null then 'stored'
  else e.status::text end`;

const columns = `e.id::text as id, e.thread_id as "threadId", e.agent_slug as "agentSlug",
  e.router_slug as "routerSlug", ${state} as status, e.model, e.iterations, e.input_tokens as "inputTokens",
  e.output_tokens as "outputTokens", e.reasoning_tokens as "reasoningTokens", e.error, e.request_id as "requestId",
  e.created_at as "createdAt", e.started_at as "startedAt", e.finished_at as "finishedAt"`;
const wholeColumns = `${columns}, e.input, e.output, e.steps`;

const list = statement(
  'list-executions',
  `select ${columns}, left(e.input, 200) as input from executions e
   where e.tenant = $1 and e.environment = $2::"Environment"
     and ($3::text is null or e.thread_id = $3) and ($4::text is null or e.agent_slug = $4)
     and ($5::text is null or ${state} = $5)
     and ($6::timestamptz is null or (e.created_at, e.id) < ($6, $7::bigint))
   order by e.created_at desc, e.id desc limit $8`,
  summaryRow,
);

/** Executions of an environment, newest first. Executions that are added between two pages do not move later pages. */
export async function listExecutions(
  db: Queryable,
  scope: Scope,
  { threadId, agentSlug, status, ...page }: Page & { threadId?: string; agentSlug?: string; status?: ExecutionState },
): Promise<Paged<ExecutionSummary>> {
  const values = [scope.tenant, scope.environment, threadId, agentSlug, status, ...pageValues(page)];
  const { rows } = await db.query(scope, list, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const byId = statement(
  'find-execution',
  `select ${wholeColumns} from executions e
   where e.tenant = $1 and e.environment = $2::"Environment" and e.id = $3::bigint`,
  wholeRow,
);

/** One execution with its messages, tool calls and undelivered replies; null when the environment has no such execution. */
export async function findExecution(db: Queryable, scope: Scope, id: string): Promise<Execution | null> {
  const { rows } = await db.query(scope, byId, [scope.tenant, scope.environment, id]);
  return (await withDetails(db, scope, rows))[0] ?? null;
}

const turnsBefore = statement(
  'read-turns',
  `select ${wholeColumns} from executions e
   where e.tenant = $1 and e.environment = $2::"Environment" and e.thread_id = $3
     and ($4::bigint is null or e.id < $4)
   order by e.id desc limit $5`,
  wholeRow,
);

/**
 * The last `limit` turns of a thread, or the last ones before the execution `beforeId`, oldest first. `isWhole`: no earlier
 * executions exist.
 */
export async function readTurns(
  db: Queryable,
  scope: Scope,
  { threadId, limit, beforeId }: { threadId: string; limit: number; beforeId: string | null },
): Promise<{ turns: Execution[]; isWhole: boolean }> {
  const values = [scope.tenant, scope.environment, threadId, beforeId, limit + 1];
  const { rows } = await db.query(scope, turnsBefore, values);
  return { turns: await withDetails(db, scope, rows.slice(0, limit).reverse()), isWhole: rows.length <= limit };
}

const messagesOfExecutions = statement(
  'messages-of-executions',
  `select execution_id::text as "executionId", id, position, role::text as role, content,
          tool_calls as "toolCalls", tool_call_id as "toolCallId", created_at as "createdAt"
   from thread_messages where tenant = $1 and execution_id = any($2::bigint[]) order by execution_id, position`,
  messageRow,
);

const callsOfExecutions = statement(
  'tool-calls-of-executions',
  `select execution_id::text as "executionId", call_id as "callId", name, args, status::text as status, result,
          started_at as "startedAt", finished_at as "finishedAt"
   from tool_calls where tenant = $1 and execution_id = any($2::bigint[]) order by execution_id, started_at, call_id`,
  callRow,
);

/** Adds messages and calls. Messages are read first, so that each call that they name is found. */
async function withDetails(db: Queryable, scope: Scope, executions: RowOf<typeof wholeRow>[]): Promise<Execution[]> {
  const ids = [scope.tenant, executions.map(({ id }) => id)];
  const messages = await db.query(scope, messagesOfExecutions, ids);
  const calls = await db.query(scope, callsOfExecutions, ids);
  // On a channel the request id of a turn is the id of the message that it answers.
  const requestIds = new Set(executions.flatMap(({ requestId }) => requestId ?? []));
  const undelivered = await undeliveredReplies(db, scope, [...requestIds]);
  const undeliveredOf = Map.groupBy(undelivered, ({ requestId }) => requestId);
  const messagesOf = Map.groupBy(messages.rows, ({ executionId }) => executionId);
  const callsOf = Map.groupBy(calls.rows, ({ executionId }) => executionId);
  return executions.map((execution) => ({
    ...execution,
    messages: messagesOf.get(execution.id) ?? [],
    toolCalls: callsOf.get(execution.id) ?? [],
    // After several attempts to answer a message only the reply of the successful one was sent.
    undelivered: (execution.status === 'succeeded' && undeliveredOf.get(execution.requestId ?? '')) || [],
  }));
}
