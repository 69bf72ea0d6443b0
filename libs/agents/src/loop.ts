import { type Json, type ToolCallSummary, findUnstorable } from '@parley/contracts';
import { type ToolOffer, type ToolResult, builtInToolNames } from '@parley/tools';
import { createHash } from 'node:crypto';
import { addUsage } from './models/add-usage';
import type {
  ModelFailureReason,
  ModelMessage,
  ModelSettings,
  ModelToolCall,
  ModelUsage,
  Models,
} from './models/model';
import type { Scope } from '@parley/contracts';
import { trimHistory } from './threads/history';
import type { TurnRecorder } from './threads/turn-recorder';

/** The model is asked at most this often in a turn, and offered no tools the last time (interface.md, Limits). */
const maxModelCalls = 10;
/** The same call with the same arguments, in one turn. */
const maxSameCalls = 3;
/** Calls of one message that run at the same time. */
const maxParallelCalls = 8;
/** Of one result towards the model, in UTF-8; the full result is stored. */
const maxResultBytes = 32 * 1024;
const outOfSteps =
  'I could not finish this within the steps I have for one message. Please ask again, or in smaller parts.';

export interface LoopRequest {
  models: Models;
  settings: ModelSettings;
  scope: Scope;
  turnId: string;
  system: string;
  history: readonly ModelMessage[][];
  historyTokens: number;
  message: string;
  offers: readonly ToolOffer[];
  runTool(call: { id: string; name: string; args: Json }, signal: AbortSignal): Promise<ToolResult>;
  recorder: Pick<TurnRecorder, 'recordCalls' | 'addResult'>;
  /** The caller went away: the step that runs is ended, no other is begun. */
  signal?: AbortSignal;
  /** Of the whole turn. */
  timeLimitMs: number;
}

type LoopEnd =
  | { how: 'answered'; text: string }
  | { how: 'model_failed'; reason: ModelFailureReason; detail: string }
  | { how: 'aborted' }
  | { how: 'timeout' }
  /** Another process has taken this turn for dead. */
  | { how: 'lost' };

export interface LoopOutcome {
  end: LoopEnd;
  model: string;
  iterations: number;
  usage: ModelUsage;
  toolCalls: ToolCallSummary[];
  /** Results of successful calls, by tool name, for what a turn reports of them. */
  lastResultOf: Map<string, Json>;
  steps: Json[];
  /** The first free position among the turn's messages. */
  position: number;
}

/** Asks the model and runs the tools that it calls, until it answers. Every step is stored before the next. */
export async function runLoop(request: LoopRequest): Promise<LoopOutcome> {
  const { models, scope, settings, recorder } = request;
  const deadline = AbortSignal.timeout(request.timeLimitMs);
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
  const outcome: LoopOutcome = {
    end: { how: 'lost' },
    model: settings.candidates[0],
    iterations: 0,
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    toolCalls: [],
    lastResultOf: new Map(),
    steps: [],
    position: 1,
  };
  const turn: ModelMessage[] = [{ role: 'user', content: request.message }];
  const sameCalls = new Map<string, number>();
  let historyTokens = request.historyTokens;
  const end = (reason: LoopEnd): LoopOutcome => ({ ...outcome, end: reason });

  for (;;) {
    if (signal.aborted) return end({ how: request.signal?.aborted ? 'aborted' : 'timeout' });
    const isLast = outcome.iterations === maxModelCalls - 1;
    const asked = await models.complete(
      scope,
      settings,
      {
        system: request.system,
        messages: [...trimHistory(request.history, historyTokens), ...turn],
        tools: isLast ? [] : request.offers,
        otherTools: builtInToolNames,
        callId: (index) => callIdOf(request.turnId, outcome.iterations, index),
      },
      { signal },
    );
    outcome.model = asked.model;
    if (!asked.ok) {
      const isTooLong = asked.reason === 'context_overflow' && historyTokens > 0 && request.history.length > 0;
      outcome.steps.push(modelStep(asked.model, asked.durationMs, { status: 'error', error: asked.reason }));
      if (isTooLong) {
        historyTokens = historyTokens < 2_000 ? 0 : Math.floor(Math.min(historyTokens, tokensIn(request)) / 2);
        continue;
      }
      if (asked.reason === 'aborted') return end({ how: request.signal?.aborted ? 'aborted' : 'timeout' });
      return end({ how: 'model_failed', reason: asked.reason, detail: asked.detail });
    }
    const { text, toolCalls, usage, raw } = asked.reply;
    outcome.iterations += 1;
    outcome.usage = addUsage(outcome.usage, usage);
    outcome.steps.push(modelStep(asked.model, asked.durationMs, { status: 'success', ...usage }));
    if (toolCalls.length === 0 || isLast)
      return end({ how: 'answered', text: storableText(text) || (isLast ? outOfSteps : '') });

    turn.push({ role: 'assistant', content: text, toolCalls, raw });
    const from = outcome.position;
    const stored = toolCalls.map(({ id, name, args }) => ({ id, name: storableText(name), args: storable(args) }));
    const progress = { ...outcome, steps: [...outcome.steps] };
    const isOurs = await recorder.recordCalls({ position: from, text: storableText(text), calls: stored, progress });
    if (!isOurs) return end({ how: 'lost' });
    outcome.position += 1 + toolCalls.length;
    const done = await mapBounded(toolCalls, maxParallelCalls, async (call, index) => {
      const startedAt = performance.now();
      const result = await runCall(request, call, { sameCalls, signal, deadline });
      const content = contentOf(result);
      // Stored while the model thinks about it.
      const isError = !result.ok;
      recorder.addResult({
        callId: call.id,
        position: from + 1 + index,
        isError,
        full: storable(result as Json),
        content,
      });
      return { result, content, durationMs: Math.round(performance.now() - startedAt) };
    });
    for (const [index, { result, content, durationMs }] of done.entries()) {
      const { id, name } = toolCalls[index]!;
      turn.push({ role: 'tool', toolCallId: id, name, content, isError: !result.ok });
      if (result.ok) outcome.lastResultOf.set(name, result.result);
      const summary = summaryOf(storableText(name), durationMs, result);
      outcome.toolCalls.push(summary);
      outcome.steps.push({ kind: 'tool', callId: id, ...summary });
    }
  }
}

/** One call, or why it is not run. The tool itself ends at its own time limit or with the turn's. */
async function runCall(
  request: LoopRequest,
  call: ModelToolCall,
  how: { sameCalls: Map<string, number>; signal: AbortSignal; deadline: AbortSignal },
): Promise<ToolResult> {
  if (call.invalid !== undefined) {
    const written = call.invalid.slice(0, 200);
    return { ok: false, errorType: 'invalid_arguments', message: `The arguments are not a JSON object: ${written}` };
  }
  // A call that has not begun when the caller goes away is not begun any more.
  if (how.signal.aborted)
    return { ok: false, errorType: 'execution_error', message: 'The turn was ended before this call' };
  const key = `${call.name} ${canonical(call.args)}`;
  const times = (how.sameCalls.get(key) ?? 0) + 1;
  how.sameCalls.set(key, times);
  if (times > maxSameCalls) {
    const message = `This call was already made ${maxSameCalls} times with these arguments in this turn; use its result`;
    return { ok: false, errorType: 'execution_error', message };
  }
  const late: ToolResult = { ok: false, errorType: 'timeout', message: 'The time for this turn is over' };
  return untilAborted(
    request.runTool({ id: call.id, name: call.name, args: call.args }, how.deadline),
    how.deadline,
    late,
  );
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal, otherwise: T): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => resolve(otherwise);
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
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

/** Nine letters and digits, which every provider takes as an id, the same for the same place of the same turn. */
function callIdOf(turnId: string, iteration: number, index: number): string {
  const digest = createHash('sha256').update(`${turnId}/${iteration}/${index}`).digest();
  return digest.readBigUInt64BE().toString(36).padStart(9, '0').slice(-9);
}

function contentOf(result: ToolResult): string {
  if (!result.ok) return storableText(JSON.stringify({ error: result.message, errorType: result.errorType }));
  const text = typeof result.result === 'string' ? result.result : (JSON.stringify(result.result) ?? 'null');
  return cut(storableText(text)) || '(empty)';
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxResultBytes) return text;
  // Cut bytes may end inside a character, which decodes to one replacement character.
  return `${bytes.toString('utf8', 0, maxResultBytes)}… [cut: the whole result has ${bytes.length} bytes]`;
}

const storableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** JSON that PostgreSQL takes: a copy without NUL and half surrogates, when there are any. */
function storable<T extends Json>(value: T): T {
  if (findUnstorable(value) === null) return value;
  const clean = (_key: string, item: unknown) => (typeof item === 'string' ? storableText(item) : item);
  const entriesClean = (_key: string, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).map(([name, inner]) => [storableText(name), inner]))
      : clean(_key, item);
  return JSON.parse(JSON.stringify(value, entriesClean)) as T;
}

/** JSON with sorted keys: the same arguments in another order are the same. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function summaryOf(name: string, durationMs: number, result: ToolResult): ToolCallSummary {
  if (result.ok) return { name, durationMs, status: 'success' };
  return { name, durationMs, status: 'error', errorType: result.errorType, errorMessage: storableText(result.message) };
}

const modelStep = (name: string, durationMs: number, rest: Record<string, Json>): Json => ({
  kind: 'model',
  name,
  durationMs: Math.round(durationMs),
  ...rest,
});

const tokensIn = ({ history }: LoopRequest): number => JSON.stringify(history).length / 3;
