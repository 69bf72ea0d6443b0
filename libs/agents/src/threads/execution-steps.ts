import type { FinishReason, Json, LogLine, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import type { Explanation } from '@parley/permissions';
import type { StoredExecution } from './read-executions';

/** Arguments and results up to this size, in bytes of JSON, are returned whole. */
const maxValueBytes = 256 * 1024;
/**
 * Size of all arguments and results of an execution. Those that exceed it are shortened to their
 * beginning, in the statement, so that the process does not hold them.
 */
const maxTotalBytes = 4 * 1024 * 1024;
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
  /** The beginning of arguments that are too large, as JSON. */
  argumentsStart: string | null;
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
  /** Whole, or null and their beginning. */
  args: column.jsonb<Json>().nullable,
  argsStart: column.text.nullable,
  status: column.oneOf<'started' | 'succeeded' | 'failed'>(),
  result: column.jsonb<StoredResult>().nullable,
  resultStart: column.text.nullable,
  startedAt: column.timestamptz,
  finishedAt: column.timestamptz.nullable,
};
type CallRow = RowOf<typeof callRow>;

const callsOfExecution = statement(
  'tool-calls-of-execution',
  `select call_id as "callId", name, status::text as status, started_at as "startedAt", finished_at as "finishedAt",
     case when "fitsArgs" then args end as args,
     case when not "fitsArgs" then left(args::text, ${startChars}) end as "argsStart",
     case when "fitsResult" then result end as result,
     case when not "fitsResult" then left(result::text, ${startChars}) end as "resultStart"
   from (select *, "argsBytes" <= ${maxValueBytes} and total - "resultBytes" <= ${maxTotalBytes} as "fitsArgs",
           "resultBytes" <= ${maxValueBytes} and total <= ${maxTotalBytes} as "fitsResult"
         from (select *, sum("argsBytes" + "resultBytes") over (order by started_at, call_id) as total
               from (select *, octet_length(args::text) as "argsBytes", coalesce(octet_length(result::text), 0) as "resultBytes"
                     from tool_calls where tenant = $tenant and execution_id = $id::bigint) c) c) c
   order by started_at, call_id`,
  callRow,
);

/**
 * The model calls and tool calls of an execution in their order. The recorded steps decide it;
 * calls of a running or killed turn, which have no step yet, follow.
 */
export async function readSteps(
  db: Queryable,
  scope: Scope,
  execution: Pick<StoredExecution, 'id' | 'status' | 'steps'>,
): Promise<ExecutionStep[]> {
  const { rows } = await db.query(scope, callsOfExecution, { id: execution.id });
  const calls = new Map(rows.map((call) => [call.callId, call]));
  const steps = execution.steps.flatMap((step): ExecutionStep[] => {
    if (step.kind === 'model') return [modelStep(step)];
    const call = calls.get(step.callId ?? '');
    calls.delete(step.callId ?? '');
    return call === undefined ? [] : [toolStep(execution, call, step)];
  });
  return [...steps, ...[...calls.values()].map((call) => toolStep(execution, call, {}))];
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
): ToolStep {
  const { callId, name, args, argsStart, startedAt, finishedAt } = call;
  return {
    type: 'tool',
    callId,
    name,
    arguments: args,
    argumentsStart: argsStart,
    status:
      call.status === 'started'
        ? status === 'running'
          ? 'running'
          : 'unknown'
        : statuses[call.status],
    ...outcomeOf(call),
    permission: permission ?? null,
    startedAt,
    durationMs:
      durationMs ?? (finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime()),
  };
}

const statuses = { succeeded: 'success', failed: 'error' } as const;

/** What a call returned. A result that is too large is shown by its beginning. */
function outcomeOf({ result, resultStart, status }: CallRow) {
  const none = { result: null, resultStart: null, errorType: null, errorMessage: null, logs: [] };
  if (status === 'started') return none;
  if (result === null) return { ...none, resultStart };
  const { logs = [] } = result;
  if (result.ok) return { ...none, result: result.result, logs };
  return { ...none, errorType: result.errorType, errorMessage: result.message, logs };
}

type StoredResult =
  | { ok: true; result: Json; logs?: LogLine[] }
  | { ok: false; errorType: string; message: string; logs?: LogLine[] };
