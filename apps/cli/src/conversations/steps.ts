import type { Execution } from '@parley/agents';
import type { Json } from '@parley/contracts';

type StoredCall = Execution['toolCalls'][number];

export interface ToolStep {
  kind: 'tool';
  callId: string;
  name: string;
  args: Json;
  /** `unknown`: its process died during the call, which may or may not have taken effect. */
  status: 'success' | 'error' | 'running' | 'unknown';
  /** Text unchanged, other values as JSON, errors as type and message. */
  result: string | null;
  durationMs: number | null;
}

export type ModelStep = Execution['steps'][number] & { kind: 'model' };
export type Step = ModelStep | ToolStep;

/**
 * The steps of an execution in order. They are recorded when it ends; for an execution that is running or was killed, its
 * stored tool calls are used.
 */
export function stepsOf(execution: Execution): Step[] {
  const calls = new Map(execution.toolCalls.map((call) => [call.callId, call]));
  const steps = execution.steps.flatMap((step): Step[] => {
    if (step.kind === 'model') return [{ ...step, kind: 'model' }];
    const call = calls.get(step.callId ?? '');
    if (call === undefined) return [];
    calls.delete(call.callId);
    return [toolStep(execution, call, step.durationMs)];
  });
  const requested = execution.messages.flatMap(({ toolCalls }) => toolCalls ?? []);
  const unrecorded = requested.flatMap(({ id }) => calls.get(id) ?? []);
  return [...steps, ...unrecorded.map((call) => toolStep(execution, call, null))];
}

/** The tool calls of one message of the assistant, in the order of the message. */
export function callsOf(execution: Execution, callIds: readonly string[]): ToolStep[] {
  const steps = new Map(stepsOf(execution).flatMap((step) => (step.kind === 'tool' ? [[step.callId, step]] : [])));
  return callIds.flatMap((id) => steps.get(id) ?? []);
}

function toolStep(execution: Execution, call: StoredCall, measuredMs: number | null): ToolStep {
  const { callId, name, args, startedAt, finishedAt } = call;
  const storedMs = finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime();
  return {
    kind: 'tool',
    callId,
    name,
    args,
    status: statusOf(execution, call),
    result: call.status === 'started' ? null : resultText(call.result),
    durationMs: measuredMs ?? storedMs,
  };
}

function statusOf(execution: Execution, { status }: StoredCall): ToolStep['status'] {
  if (status === 'succeeded') return 'success';
  if (status === 'failed') return 'error';
  return execution.status === 'running' ? 'running' : 'unknown';
}

function resultText(stored: Json): string {
  const outcome = (typeof stored === 'object' && stored !== null ? stored : {}) as Record<string, Json | undefined>;
  if (outcome.ok === false) return `${String(outcome.errorType)}: ${String(outcome.message)}`;
  const result = outcome.ok === true ? (outcome.result ?? null) : stored;
  return typeof result === 'string' ? result : JSON.stringify(result);
}
