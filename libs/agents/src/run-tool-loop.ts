import {
  type FinishReason,
  type Json,
  type Scope,
  type ToolCallSummary,
  findUnstorable,
  reportRefusal,
} from '@parley/contracts';
import { rejectOnAbort } from '@parley/outbound';
import type { Explanation } from '@parley/permissions';
import { type ToolOffer, type ToolResult, builtInToolNames } from '@parley/tools';
import { createHash } from 'node:crypto';
import { failureOfBlank } from './models/model-fallback';
import { sumUsage } from './models/sum-usage';
import type {
  ModelFailureReason,
  ModelMessage,
  ModelReply,
  ModelResult,
  ModelSettings,
  ModelToolCall,
  ModelUsage,
  Models,
} from './models/model';
import { createHistoryView } from './shorten-history';
import type { HistoryTurn } from './threads/history';
import { storableText, truncateBytes } from './threads/storable-text';
import type { ReplyStream } from './background/reply-stream';
import type { RecordedTurn } from './running-turn';
import type { TurnRecorder } from './threads/turn-recorder';

/**
 * Maximum model calls in a turn without those of nested turns; the last one offers no tools
 * (docs/reference/limits.md#chat).
 */
export const maxModelCalls = 10;
/** Maximum calls of a tool with the same arguments in a turn. */
const maxSameCalls = 3;
/** Maximum calls of one reply that run at the same time. */
const maxParallelCalls = 8;
/** Maximum text of all replies of a turn, in bytes of UTF-8. */
const maxTextBytes = 1024 * 1024;
/** Maximum size of a result that the model gets, in UTF-8. The full result is stored. */
const maxResultBytes = 32 * 1024;
export interface ToolLoopRequest {
  models: Models;
  settings: ModelSettings;
  scope: Scope;
  turnId: string;
  system: string;
  history: readonly HistoryTurn[];
  historyTokens: number;
  /** Reads the ids of the earlier turns that the provider may have refused. */
  refusedTurns: () => Promise<ReadonlySet<string>>;
  message: string;
  /** What another process has recorded of the turn. */
  recorded?: RecordedTurn;
  offers: readonly ToolOffer[];
  runTool(
    call: { id: string; name: string; args: Json; onDecision: (explanation: Explanation) => void },
    signal: AbortSignal,
  ): Promise<ToolResult>;
  recorder: Pick<TurnRecorder, 'recordCalls' | 'addResult'>;
  /** Maximum tool calls in one reply of the model. The others are answered with an error. */
  toolCallsPerMessage: number;
  /** Shows the turn to its readers while it runs. */
  stream?: ReplyStream;
  /**
   * Called before each model call; false if the limit of all nested turns is reached. Absent in a
   * turn that is not nested.
   */
  takeModelCall?: () => Promise<boolean>;
  /**
   * Aborted when the caller disconnects: the current step is completed, and no further step begins.
   */
  signal?: AbortSignal;
  /** Time limit of the rest of the turn. */
  timeLimitMs: number;
}

type ToolLoopEnd =
  | { how: 'answered'; text: string; finishReason: FinishReason }
  | { how: 'model_failed'; reason: ModelFailureReason; detail: string }
  | { how: 'aborted' }
  | { how: 'timeout' }
  /** The turn's lease expired, and another process ended the turn. */
  | { how: 'lost' };

export interface ToolLoopOutcome {
  end: ToolLoopEnd;
  model: string;
  iterations: number;
  usage: ModelUsage;
  toolCalls: ToolCallSummary[];
  /**
   * The result of the last `router.transfer` that succeeded. Other results are not kept, because
   * they can be large.
   */
  lastTransfer?: Json;
  steps: Json[];
  /** The first free position among the turn's messages. */
  position: number;
}

/**
 * Calls the model and runs the tools that it asks for, until it answers. Each step is stored before
 * the next begins.
 */
export async function runToolLoop(request: ToolLoopRequest): Promise<ToolLoopOutcome> {
  const { models, scope, settings, recorded, stream } = request;
  const usage = recorded?.usage ?? { inputTokens: 0, outputTokens: 0 };
  const deadline = AbortSignal.timeout(request.timeLimitMs);
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
  const outcome: ToolLoopOutcome = {
    end: { how: 'lost' },
    model: settings.candidates[0],
    iterations: recorded?.iterations ?? 0,
    usage: { ...usage, totalTokens: usage.inputTokens + usage.outputTokens },
    toolCalls: [],
    steps: [...(recorded?.steps ?? [])],
    position: recorded?.position ?? 1,
  };
  const turn: ModelMessage[] = recorded?.messages ?? [{ role: 'user', content: request.message }];
  const run: RunningLoop = { request, outcome, turn, sameCalls: new Map(), signal, deadline };
  const history = createHistoryView({ ...request, budgetTokens: request.historyTokens });
  let textBytes = 0;
  let cutReplies = 0;
  const end = (reason: ToolLoopEnd): ToolLoopOutcome => ({ ...outcome, end: reason });

  for (;;) {
    if (signal.aborted) return end({ how: request.signal?.aborted ? 'aborted' : 'timeout' });
    if (request.takeModelCall !== undefined && !(await request.takeModelCall())) {
      reportRefusal('model_calls_per_turn');
      outcome.steps.push(
        modelStep(outcome.model, 0, { status: 'error', error: 'model_calls_per_turn' }),
      );
      return end(outOfSteps);
    }
    const isLast = outcome.iterations >= maxModelCalls - 1;
    stream?.beginStep();
    const called = await models.complete(
      scope,
      settings,
      {
        system: request.system,
        messages: [...history.messages(), ...turn],
        tools: isLast ? [] : request.offers,
        otherTools: builtInToolNames,
        callId: (index) => callIdOf(request.turnId, outcome.iterations, index),
        maxCalls: request.toolCallsPerMessage,
        maxTextBytes: maxTextBytes - textBytes,
      },
      { signal, sink: stream },
    );
    noteCall(outcome, called);
    if (!called.ok) {
      if (await history.shorten(called)) continue;
      if (called.reason === 'aborted')
        return end({ how: request.signal?.aborted ? 'aborted' : 'timeout' });
      return end({ how: 'model_failed', reason: called.reason, detail: called.detail });
    }
    const { reply } = called;
    textBytes += Buffer.byteLength(reply.text);
    const cut = cutOf(reply);
    if (cut !== null) cutReplies += 1;
    // A second reply that is cut off would be followed by a third.
    if (reply.toolCalls.length === 0 || isLast || cutReplies > 1) return end(answeredWith(reply));
    const { isLost, handoffReply } = await runCalls(run, reply, cut);
    if (isLost) return end({ how: 'lost' });
    if (handoffReply !== undefined)
      return end({ how: 'answered', text: storableText(handoffReply), finishReason: 'tool_calls' });
  }
}

/** What the steps of one turn share. */
interface RunningLoop {
  request: ToolLoopRequest;
  outcome: ToolLoopOutcome;
  /** The message, and what has followed it. */
  turn: ModelMessage[];
  /** How often each call was made. */
  sameCalls: Map<string, number>;
  signal: AbortSignal;
  deadline: AbortSignal;
}

const outOfSteps: ToolLoopEnd = {
  how: 'answered',
  text: 'I could not finish this within the steps I have for one message. Please ask again, or in smaller parts.',
  finishReason: 'tool_calls',
};

/** Adds a call of the model to the steps and the usage of the turn. */
function noteCall(outcome: ToolLoopOutcome, called: ModelResult): void {
  outcome.model = called.model;
  const usage = called.ok ? called.reply.usage : called.usage;
  outcome.usage = sumUsage(outcome.usage, usage);
  if (!called.ok) {
    const rest = { status: 'error', error: called.reason, ...usage };
    outcome.steps.push(modelStep(called.model, called.durationMs, rest));
    return;
  }
  outcome.iterations += 1;
  const { finishReason } = called.reply;
  outcome.steps.push(
    modelStep(called.model, called.durationMs, { status: 'success', finishReason, ...usage }),
  );
}

const cuts: Partial<Record<FinishReason, string>> = {
  length: 'the answer was cut off at the limit of its length',
  content_filter: "the answer was cut off by the provider's content filter",
  refusal: 'the model refused to continue',
  error: 'the provider ended the answer with an error',
};

/**
 * Why the calls of a reply must not run: its last call may be incomplete, and the others were not
 * meant to be the whole.
 */
const cutOf = ({ finishReason }: ModelReply): string | null => cuts[finishReason] ?? null;

/** The end of a turn with a reply whose calls are not run. */
function answeredWith({ text, finishReason, toolCalls }: ModelReply): ToolLoopEnd {
  const storable = storableText(text);
  if (storable.trim() !== '') return { how: 'answered', text: storable, finishReason };
  const cut = cuts[finishReason];
  if (cut === undefined && toolCalls.length > 0) return outOfSteps;
  return {
    how: 'model_failed',
    reason: failureOfBlank(finishReason),
    detail: cut ?? 'the answer has no text',
  };
}

/**
 * Stores the calls of a reply, runs them and adds their results to the turn. With `cut` none runs.
 */
async function runCalls(
  run: RunningLoop,
  { text, toolCalls, droppedCalls, raw }: ModelReply,
  cut: string | null,
): Promise<{ isLost: boolean; handoffReply?: string }> {
  const { request, outcome, turn } = run;
  const { recorder, stream } = request;
  turn.push({ role: 'assistant', content: text, toolCalls, raw });
  const from = outcome.position;
  const stored = toolCalls.map(({ id, name, args }) => ({
    id,
    name: storableText(name),
    args: storable(args),
  }));
  const progress = { ...outcome, steps: [...outcome.steps] };
  const isOwned = await recorder.recordCalls({
    position: from,
    text: storableText(text),
    calls: stored,
    progress,
  });
  if (!isOwned) return { isLost: true };
  stream?.calls(toolCalls);
  outcome.position += 1 + toolCalls.length;
  if (droppedCalls > 0) reportRefusal('tool_calls_per_message', droppedCalls);
  const done = await mapBounded(toolCalls, maxParallelCalls, async (call, index) => {
    const startedAt = performance.now();
    let permission: Explanation | undefined;
    const onDecision = (explanation: Explanation) => void (permission = explanation);
    const result = cut === null ? await runCall(run, call, onDecision) : notRun(cut);
    stream?.result(call.id, result);
    const isLastOfMany = droppedCalls > 0 && index === toolCalls.length - 1;
    const content =
      contentOf(result) + (isLastOfMany ? tooManyCalls(toolCalls.length, droppedCalls) : '');
    recorder.addResult({
      callId: call.id,
      position: from + 1 + index,
      isError: !result.ok,
      full: storable(result as Json),
      content,
    });
    return {
      call,
      result,
      content,
      permission,
      durationMs: Math.round(performance.now() - startedAt),
    };
  });
  stream?.endStep();
  for (const one of done) noteResult(run, one);
  const handoff = done.findLast(
    ({ call, result }) => call.name === 'thread.handoff' && result.ok,
  )?.result;
  const reply = handoff?.ok ? (handoff.result as { reply: string | null }).reply : null;
  return { isLost: false, ...(reply !== null && { handoffReply: reply }) };
}

interface DoneCall {
  call: ModelToolCall;
  result: ToolResult;
  content: string;
  permission: Explanation | undefined;
  durationMs: number;
}

/** Adds a result to the turn, its steps and its summary. */
function noteResult(
  { outcome, turn }: RunningLoop,
  { call, result, content, permission, durationMs }: DoneCall,
): void {
  const { id, name } = call;
  turn.push({ role: 'tool', toolCallId: id, name, content, isError: !result.ok });
  if (result.ok && name === 'router.transfer') outcome.lastTransfer = result.result;
  const summary = summaryOf(storableText(name), durationMs, result);
  outcome.toolCalls.push(summary);
  outcome.steps.push({
    kind: 'tool',
    callId: id,
    ...summary,
    ...(permission && { permission: toJson(permission) }),
  });
}

const notRun = (why: string): ToolResult => ({
  ok: false,
  errorType: 'execution_error',
  message: `not run: ${why}`,
});

/** What the model reads after the results of a reply with more calls than a reply may have. */
const tooManyCalls = (limit: number, dropped: number): string =>
  `\n[${dropped} more calls were not made: a message may have at most ${limit} tool calls. Make them in a later message if they are still needed]`;

/**
 * Runs one tool call, or returns the error that prevents it. The call ends at the tool's or the
 * turn's time limit.
 */
async function runCall(
  { request, sameCalls, signal, deadline }: RunningLoop,
  { id, name, args, problem }: ModelToolCall,
  onDecision: (explanation: Explanation) => void,
): Promise<ToolResult> {
  if (problem !== undefined) return { ok: false, errorType: 'invalid_arguments', message: problem };
  if (signal.aborted)
    return { ok: false, errorType: 'execution_error', message: 'The turn ended before this call' };
  const key = `${name} ${canonical(args)}`;
  const times = (sameCalls.get(key) ?? 0) + 1;
  sameCalls.set(key, times);
  if (times > maxSameCalls) {
    const message = `This tool was already called ${maxSameCalls} times with these arguments in this turn; use its result`;
    return { ok: false, errorType: 'execution_error', message };
  }
  const timeout: ToolResult = {
    ok: false,
    errorType: 'timeout',
    message: 'The time limit of the turn was reached',
  };
  const result = request.runTool({ id, name, args, onDecision }, deadline);
  return rejectOnAbort(result, deadline).catch((error: unknown) => {
    if (deadline.aborted) return timeout;
    throw error;
  });
}

async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/**
 * An id of nine letters and digits, which every provider accepts. It is the same for the same
 * position in the same turn.
 */
function callIdOf(turnId: string, iteration: number, index: number): string {
  const digest = createHash('sha256').update(`${turnId}/${iteration}/${index}`).digest();
  return digest.readBigUInt64BE().toString(36).padStart(9, '0').slice(-9);
}

function contentOf(result: ToolResult): string {
  if (!result.ok) {
    const { message: error, errorType, reason } = result;
    return storableText(JSON.stringify({ error, errorType, reason }));
  }
  const text =
    typeof result.result === 'string' ? result.result : (JSON.stringify(result.result) ?? 'null');
  return truncate(storableText(text)) || '(empty)';
}

function truncate(text: string): string {
  const { text: start, bytes } = truncateBytes(text, maxResultBytes);
  return bytes <= maxResultBytes
    ? text
    : `${start}… [truncated: the full result has ${bytes} bytes]`;
}

/** JSON that PostgreSQL can store: NUL characters and lone surrogates are removed. */
function storable<T extends Json>(value: T): T {
  if (findUnstorable(value) === null) return value;
  const clean = (_key: string, item: unknown) => {
    if (typeof item === 'string') return storableText(item);
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(
      Object.entries(item).map(([name, inner]) => [storableText(name), inner]),
    );
  };
  return JSON.parse(JSON.stringify(value, clean)) as T;
}

/** JSON with sorted keys, by which calls with the same arguments are recognized. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function summaryOf(name: string, durationMs: number, result: ToolResult): ToolCallSummary {
  if (result.ok) return { name, durationMs, status: 'success' };
  return {
    name,
    durationMs,
    status: 'error',
    errorType: result.errorType,
    errorMessage: storableText(result.message),
    ...(result.reason !== undefined && { reason: storableText(result.reason) }),
  };
}

const toJson = ({ allowed, reason, policies }: Explanation): Json => ({
  allowed,
  reason: storableText(reason),
  policies: policies.map((policy) => ({ ...policy })),
});

const modelStep = (name: string, durationMs: number, rest: Record<string, Json>): Json => ({
  kind: 'model',
  name,
  durationMs: Math.round(durationMs),
  ...rest,
});
