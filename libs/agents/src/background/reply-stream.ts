import type { FinishReason, Json } from '@parley/contracts';
import type { ToolResult } from '@parley/tools';
import type { ModelToolCall, ModelUsage, TextSink } from '../models/model';
import { storableText } from '../threads/storable-text';

interface NumberedChunk {
  seq: number;
  chunk: { type: string; [field: string]: Json };
}

/** Where the chunks are written (`createExecutionChunks` of libs/redis). */
export interface ChunkLog {
  append(
    executionId: string,
    chunks: readonly NumberedChunk[],
    options: { after: number | null; limit: number },
  ): Promise<'ok' | 'gap' | 'overtaken'>;
  /** Wakes the readers of an execution that has ended. */
  ring(executionId: string): void;
}

/**
 * The turn as its readers see it while it runs: chunks of the AI SDK's UI message stream
 * (docs/adr/0062).
 */
export interface ReplyStream extends TextSink {
  beginStep(): void;
  calls(calls: readonly ModelToolCall[]): void;
  result(callId: string, result: ToolResult): void;
  endStep(): void;
  /** Writes what the readers lack of the reply, before it is stored. */
  complete(reply: { text: string; finishReason: FinishReason }, usage: ModelUsage): Promise<void>;
}

/** The word of the AI SDK for the end of an answer. */
export const streamedFinishReason = (reason: FinishReason): string =>
  reason === 'refusal' ? 'content-filter' : reason.replace('_', '-');

/** The first number of each attempt: an execution has at most a few (run-execution.ts). */
export const chunksPerAttempt = 1_000_000;
const flushEveryMs = 25;
const maxValueChars = 16 * 1024;
/** Pieces of a text, of up to 8,000 characters. */
const pieces = /.{1,8000}/gsu;
/** After so many characters of arguments and results, the others are left out. */
const maxValuesChars = 1024 * 1024;

const shortText = (text: string): string => storableText(text.slice(0, maxValueChars));

/** The stream of one attempt. Without Redis its readers get the reply from the database. */
export function createReplyStream(
  log: ChunkLog,
  { id, attempts }: { id: string; attempts: number },
): ReplyStream {
  const first = (attempts - 1) * chunksPerAttempt;
  const limit = first + chunksPerAttempt;
  /** All chunks of the attempt, which are written again when Redis loses them. */
  const all: NumberedChunk[] = [];
  let flushed = 0;
  let seq = first;
  let state: 'between' | 'step' | 'text' = 'between';
  /** Text of the current step. `held` may be the first half of a character. */
  let text = '';
  let held = '';
  let delta = '';
  let valuesChars = 0;
  let stepCount = 0;
  let writing = Promise.resolve();
  let flushedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOvertaken = false;

  const textId = () => `text-${attempts}-${stepCount}`;
  const push = (chunk: NumberedChunk['chunk']) => void all.push({ seq: (seq += 1), chunk });
  function pushDelta(): void {
    // Readers that are slow hold a chunk each. No piece ends between the two halves of a character.
    for (const piece of delta.match(pieces) ?? [])
      push({ type: 'text-delta', id: textId(), delta: piece });
    delta = '';
  }
  function add(chunk: NumberedChunk['chunk']): void {
    pushDelta();
    push(chunk);
    schedule();
  }

  const schedule = () => {
    timer ??= setTimeout(
      () => void flush(),
      Math.max(0, flushedAtMs + flushEveryMs - performance.now()),
    );
  };
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushedAtMs = performance.now();
    // Redis may be unavailable. The next write then sends everything.
    return (writing = writing.then(write).catch(() => {}));
  }
  async function write(): Promise<void> {
    pushDelta();
    const end = all.length;
    if (flushed === end || isOvertaken) return;
    const after = all[flushed - 1]?.seq ?? null;
    let appended = await log.append(id, all.slice(flushed, end), { after, limit });
    if (appended === 'gap')
      appended = await log.append(id, all.slice(0, end), { after: null, limit });
    if (appended === 'overtaken') isOvertaken = true;
    else flushed = end;
  }

  function endText(): void {
    if (held !== '') delta += storableText(held);
    held = '';
    if (state !== 'text') return;
    add({ type: 'text-end', id: textId() });
    state = 'step';
  }

  function beginStep(): void {
    if (state !== 'between') return;
    add({ type: 'start-step' });
    state = 'step';
    stepCount += 1;
    text = held = '';
  }

  function reset(): void {
    delta = held = text = '';
    add({ type: 'reset-step' });
    state = 'step';
    stepCount += 1;
  }

  const shown = (value: Json): Json => {
    const length = JSON.stringify(value)?.length ?? 0;
    if (length === 0 || length > maxValueChars || valuesChars + length > maxValuesChars)
      return null;
    valuesChars += length;
    return value;
  };

  add({ type: 'start', messageId: id });
  if (attempts > 1) reset();
  state = 'between';

  const stream: ReplyStream = {
    beginStep,
    begin() {
      if (state === 'text' || text !== '') reset();
    },
    write(written) {
      const whole = held + written;
      // Half of a surrogate pair is kept until the other half arrives.
      const isHalf = /[\uD800-\uDBFF]$/.test(whole);
      held = isHalf ? whole.slice(-1) : '';
      const clean = storableText(isHalf ? whole.slice(0, -1) : whole);
      if (clean === '') return;
      beginStep();
      if (state === 'step') add({ type: 'text-start', id: textId() });
      state = 'text';
      text += clean;
      delta += clean;
      schedule();
    },
    calls(calls) {
      endText();
      for (const call of calls)
        add({
          type: 'tool-input-available',
          toolCallId: call.id,
          toolName: shortText(call.name),
          input: shown(call.args) ?? {},
          dynamic: true,
        });
    },
    result(toolCallId, result) {
      if (result.ok)
        add({
          type: 'tool-output-available',
          toolCallId,
          output: shown(result.result as Json),
          dynamic: true,
        });
      else
        add({
          type: 'tool-output-error',
          toolCallId,
          errorText: shortText(result.message),
          dynamic: true,
        });
    },
    endStep() {
      endText();
      if (state === 'step') add({ type: 'finish-step' });
      state = 'between';
      text = '';
    },
    async complete({ text: reply, finishReason }, { inputTokens, outputTokens, totalTokens }) {
      endText();
      if (text !== reply) {
        if (text !== '') reset();
        if (reply !== '') stream.write(reply);
      }
      stream.endStep();
      const usage = { inputTokens, outputTokens, totalTokens };
      add({
        type: 'finish',
        finishReason: streamedFinishReason(finishReason),
        messageMetadata: { usage },
      });
      await flush();
    },
  };
  return stream;
}
