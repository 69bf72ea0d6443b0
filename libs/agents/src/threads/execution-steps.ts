import type { FinishReason, Json, LogLine, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import type { Explanation } from '@parley/permissions';
import type { StoredExecution } from './read-executions';

/** Results up to this size, in characters of JSON, are returned whole. */
const maxResultChars = 256 * 1024;
/** Size of all results of an execution. Those that exceed it are shortened to their beginning. */
const maxTotalChars = 4 * 1024 * 1024;
const startChars = 2_000;

interface Tokens {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number | null;
}

interface ModelStep extends Tokens {
  type: 'model';
  model: string;
  /** `routing`: a router let the model choose the agent. */
  purpose: 'routing' | 'reply';
  status: 'success' | 'error';
  error: string | null;
  finishReason: FinishReason | null;
  durationMs: number;
}

interface ToolStep {
  type: 'tool';
  callId: string;
  name: string;
  arguments: Json;
  /** `unknown`: its process ended during the call, which may or may not have taken effect. */
  status: 'success' | 'error' | 'running' | 'unknown';
  result: Json;
  /** The beginning of a result that is too large, as JSON. */
  resultStart: string | null;
  errorType: string | null;
  errorMessage: string | null;
  permission: Explanation | null;
  logs: LogLine[];
  startedAt: Date;
  durationMs: number | null;
}

export type ExecutionStep = ModelStep | ToolStep;

const callRow = {
  callId: column.text,
  name: column.text,
  args: column.jsonb<Json>(),
  status: column.oneOf<'started' | 'succeeded' | 'failed'>(),
  /** The beginning of the result, and the number of its characters. */
  result: column.text.nullable,
  chars: column.int4.nullable,
  startedAt: column.timestamptz,
  finishedAt: column.timestamptz.nullable,
};
type CallRow = RowOf<typeof callRow>;

const callsOfExecution = statement(
  'tool-calls-of-execution',
  `select call_id as "callId", name, args, status::text as status, left(result::text, ${maxResultChars}) as result,
          length(result::text) as chars, started_at as "startedAt", finished_at as "finishedAt"
   from tool_calls where tenant = $1 and execution_id = $2::bigint order by started_at, call_id`,
  callRow,
);

/**
 * The model calls and tool calls of an execution in their order. The recorded steps decide it; calls of a running or killed
 * turn, which have no step yet, follow.
 */
export async function readSteps(
  db: Queryable,
  scope: Scope,
  execution: Pick<StoredExecution, 'id' | 'status' | 'steps'>,
): Promise<ExecutionStep[]> {
  const { rows } = await db.query(scope, callsOfExecution, [scope.tenant, execution.id]);
  const calls = new Map(rows.map((call) => [call.callId, call]));
  const show = createShortener();
  const steps = execution.steps.flatMap((step): ExecutionStep[] => {
    if (step.kind === 'model') return [modelStep(step)];
    const call = calls.get(step.callId ?? '');
    calls.delete(step.callId ?? '');
    return call === undefined ? [] : [toolStep(execution, call, step, show)];
  });
  return [...steps, ...[...calls.values()].map((call) => toolStep(execution, call, {}, show))];
}

type RecordedStep = StoredExecution['steps'][number];

const modelStep = (step: RecordedStep): ModelStep => ({
  type: 'model',
  model: step.name,
  purpose: step.purpose ?? 'reply',
  status: step.status,
  error: step.error ?? null,
  finishReason: step.finishReason ?? null,
  durationMs: step.durationMs,
  inputTokens: step.inputTokens ?? 0,
  outputTokens: step.outputTokens ?? 0,
  reasoningTokens: step.reasoningTokens ?? null,
});

function toolStep(
  { status }: Pick<StoredExecution, 'status'>,
  call: CallRow,
  { durationMs, permission }: Partial<RecordedStep>,
  show: ReturnType<typeof createShortener>,
): ToolStep {
  const { callId, name, args, startedAt, finishedAt } = call;
  return {
    type: 'tool',
    callId,
    name,
    arguments: args,
    status: call.status === 'started' ? (status === 'running' ? 'running' : 'unknown') : statuses[call.status],
    ...show(call),
    permission: permission ?? null,
    startedAt,
    durationMs: durationMs ?? (finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime()),
  };
}

const statuses = { succeeded: 'success', failed: 'error' } as const;

/** Shows results until they have `maxTotalChars` together, then only the beginning of each. */
function createShortener() {
  let leftChars = maxTotalChars;
  return ({ result, chars, status }: CallRow) => {
    const none = { result: null, resultStart: null, errorType: null, errorMessage: null, logs: [] };
    if (result === null || status === 'started') return none;
    if (chars! > maxResultChars || chars! > leftChars) return { ...none, resultStart: result.slice(0, startChars) };
    leftChars -= chars!;
    const stored = JSON.parse(result) as StoredResult;
    const { logs = [] } = stored;
    if (stored.ok) return { ...none, result: stored.result, logs };
    return { ...none, errorType: stored.errorType, errorMessage: stored.message, logs };
  };
}

type StoredResult =
  { ok: true; result: Json; logs?: LogLine[] } | { ok: false; errorType: string; message: string; logs?: LogLine[] };
