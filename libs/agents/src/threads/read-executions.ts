import { type UndeliveredReply, undeliveredReplies } from '@parley/channels';
import type { Json, Scope, ToolCallSummary } from '@parley/contracts';
import { type Page, type Paged, type Queryable, pageValues, toPaged } from '@parley/db';
import type { StoredToolCall } from './turn';

/**
 * Besides what is stored: `stored` succeeded without an answer, as a person had taken the thread over; `stalled` has had
 * no sign of life from its process for longer than its lease, and the thread's next message ends it as failed.
 */
type ExecutionState = 'queued' | 'running' | 'stalled' | 'succeeded' | 'stored' | 'failed';

export interface ExecutionSummary {
  id: string;
  threadId: string;
  agentSlug: string | null;
  routerSlug: string | null;
  status: ExecutionState;
  /** In a list only its beginning. */
  input: string;
  model: string | null;
  /** Calls of the model that were answered. */
  iterations: number;
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number | null;
  error: string | null;
  requestId: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A step as it was recorded at the end of the turn (loop.ts). */
interface RecordedStep extends ToolCallSummary {
  kind: 'model' | 'tool';
  /** Of a tool call. */
  callId?: string;
  /** Of a model call. */
  inputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  error?: string;
}

interface Message {
  executionId: string;
  id: string;
  position: number;
  role: 'user' | 'assistant' | 'tool';
  content: string;
  toolCalls: StoredToolCall[] | null;
  toolCallId: string | null;
  createdAt: Date;
}

interface StoredCall {
  executionId: string;
  callId: string;
  name: string;
  args: Json;
  status: 'started' | 'succeeded' | 'failed';
  /** What the tool came to, in full: `{ ok, result }` or `{ ok, errorType, message }`. */
  result: Json;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface Execution extends ExecutionSummary {
  output: string | null;
  steps: RecordedStep[];
  messages: Message[];
  toolCalls: StoredCall[];
  /** Parts of the answer that its channel took and that did not reach the customer, or may not have. */
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

const listSql = `
  select ${columns}, left(e.input, 200) as input from executions e
  where e.organization_id = $1 and e.environment = $2::"Environment"
    and ($3::text is null or e.thread_id = $3) and ($4::text is null or e.agent_slug = $4)
    and ($5::text is null or ${state} = $5)
    and ($6::timestamptz is null or (e.created_at, e.id) < ($6, $7::bigint))
  order by e.created_at desc, e.id desc limit $8`;

/**
 * Executions of an environment, newest first, with the beginning of what they were asked. Executions that are added
 * meanwhile do not move the pages that follow.
 */
export async function listExecutions(
  db: Queryable,
  { organizationId, environment }: Scope,
  { threadId, agentSlug, status, ...page }: Page & { threadId?: string; agentSlug?: string; status?: ExecutionState },
): Promise<Paged<ExecutionSummary>> {
  const values = [organizationId, environment, threadId, agentSlug, status, ...pageValues(page)];
  const { rows } = await db.raw<ExecutionSummary>(listSql, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

/** One execution with its messages, tool calls and undelivered replies; null when the environment has none of this id. */
export async function findExecution(db: Queryable, scope: Scope, id: string): Promise<Execution | null> {
  const { rows } = await db.raw<Execution>(
    `select ${wholeColumns} from executions e
     where e.organization_id = $1 and e.environment = $2::"Environment" and e.id = $3::bigint`,
    [scope.organizationId, scope.environment, id],
  );
  return (await withWork(db, scope, rows))[0] ?? null;
}

/**
 * The last `limit` turns of a thread, or the last ones before the execution `beforeId`, oldest first. `isWhole`: no earlier
 * ones are left.
 */
export async function readTurns(
  db: Queryable,
  scope: Scope,
  { threadId, limit, beforeId }: { threadId: string; limit: number; beforeId: string | null },
): Promise<{ turns: Execution[]; isWhole: boolean }> {
  const { rows } = await db.raw<Execution>(
    `select ${wholeColumns} from executions e
     where e.organization_id = $1 and e.environment = $2::"Environment" and e.thread_id = $3
       and ($4::bigint is null or e.id < $4)
     order by e.id desc limit $5`,
    [scope.organizationId, scope.environment, threadId, beforeId, limit + 1],
  );
  return { turns: await withWork(db, scope, rows.slice(0, limit).reverse()), isWhole: rows.length <= limit };
}

/** Messages first: every call that they name was stored with them. */
async function withWork(db: Queryable, scope: Scope, executions: Execution[]): Promise<Execution[]> {
  const ids = executions.map(({ id }) => id);
  const messages = await db.raw<Message>(
    `select execution_id::text as "executionId", id, position, role::text as role, content,
            tool_calls as "toolCalls", tool_call_id as "toolCallId", created_at as "createdAt"
     from thread_messages where execution_id = any($1::bigint[]) order by execution_id, position`,
    [ids],
  );
  const calls = await db.raw<StoredCall>(
    `select execution_id::text as "executionId", call_id as "callId", name, args, status::text as status, result,
            started_at as "startedAt", finished_at as "finishedAt"
     from tool_calls where execution_id = any($1::bigint[]) order by execution_id, started_at, call_id`,
    [ids],
  );
  // A channel's turn has the id of the message that it answers.
  const requestIds = new Set(executions.flatMap(({ requestId }) => requestId ?? []));
  const undelivered = await undeliveredReplies(db, scope, [...requestIds]);
  const undeliveredOf = Map.groupBy(undelivered, ({ requestId }) => requestId);
  const messagesOf = Map.groupBy(messages.rows, ({ executionId }) => executionId);
  const callsOf = Map.groupBy(calls.rows, ({ executionId }) => executionId);
  return executions.map((execution) => ({
    ...execution,
    messages: messagesOf.get(execution.id) ?? [],
    toolCalls: callsOf.get(execution.id) ?? [],
    // Of several tries at one message the one that succeeded was sent.
    undelivered: (execution.status === 'succeeded' && undeliveredOf.get(execution.requestId ?? '')) || [],
  }));
}
