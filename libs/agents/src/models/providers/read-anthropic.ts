import type { FinishReason } from '@parley/contracts';
import type { ModelUsage } from '../model';
import {
  type Answer,
  type AnswerLimits,
  type AnswerReader,
  type WrittenCall,
  jsonOf,
  listOf,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { faultOf, reportedError } from '../reading/provider-fault';
import { createReplyText } from '../reading/reply-text';
import { createWrittenCalls } from '../reading/written-calls';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

/** A block with thoughts. Its signature lets the model read it again within the turn. */
type Thoughts = Record<string, unknown> & { type: 'thinking' | 'redacted_thinking' };

/** Reads Anthropic's messages, whole or as events. */
export function createAnthropicReader(limits: AnswerLimits, write: (delta: string) => void): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  /** Blocks of a stream that are not complete, by their index. */
  const thoughts = new Map<unknown, Thoughts>();
  const open = new Map<unknown, WrittenCall>();
  let reason: string | null = null;
  let isStopped = false;
  let usage: Record<string, unknown> = {};

  /** `index` is absent in an answer that is not streamed. */
  function addBlock(given: unknown, index?: unknown): void {
    const block = objectOf(given);
    if (block.type === 'text') text.add(textOf(block.text));
    if (block.type === 'thinking' || block.type === 'redacted_thinking')
      thoughts.set(index ?? thoughts.size, { ...block } as Thoughts);
    if (block.type !== 'tool_use') return;
    // A stream begins a call with an empty object, and its text follows.
    const isBegun = index !== undefined && Object.keys(objectOf(block.input)).length === 0;
    const args = isBegun || block.input == null ? '' : inputOf(block.input);
    const call = { id: textOf(block.id), name: textOrNull(block.name), args };
    if (index === undefined) calls.add(call);
    else open.set(index, call);
  }

  function addDelta(index: unknown, given: unknown): void {
    const delta = objectOf(given);
    if (delta.type === 'text_delta') text.add(textOf(delta.text));
    const call = open.get(index);
    if (delta.type === 'input_json_delta' && call !== undefined) call.args += textOf(delta.partial_json);
    const block = thoughts.get(index);
    if (block === undefined) return;
    if (delta.type === 'thinking_delta') block.thinking = textOf(block.thinking) + textOf(delta.thinking);
    if (delta.type === 'signature_delta') block.signature = textOf(block.signature) + textOf(delta.signature);
  }

  function addMessage(message: Record<string, unknown>): void {
    for (const block of listOf(message.content)) addBlock(block);
    usage = { ...usage, ...objectOf(message.usage) };
    reason = textOf(message.stop_reason) || reason;
  }

  function takeEvent(event: Record<string, unknown>): void {
    switch (event.type) {
      case 'message_start':
        return addMessage(objectOf(event.message));
      case 'content_block_start':
        return addBlock(event.content_block, event.index);
      case 'content_block_delta':
        return addDelta(event.index, event.delta);
      case 'message_delta':
        reason = textOf(objectOf(event.delta).stop_reason) || reason;
        // Counts are totals, and replace those at the beginning of the message.
        usage = { ...usage, ...withoutNull(objectOf(event.usage)) };
        return;
      case 'message_stop':
        isStopped = true;
        return;
    }
  }

  const written = (): WrittenCall[] => {
    for (const [index, call] of open) {
      calls.add(call);
      open.delete(index);
    }
    return calls.list();
  };

  return {
    take(value) {
      const error = reportedError(value);
      if (error !== null) throw faultOf(error);
      if (value.type === 'message' || (value.type === undefined && Array.isArray(value.content))) {
        isStopped = true;
        addMessage(value);
      } else takeEvent(value);
    },
    takeDone() {
      isStopped = true;
    },
    hasEnded: () => isStopped || reason !== null,
    isFull: text.isFull,
    read(): Answer {
      const list = written();
      return {
        finishReason: text.isFull()
          ? 'length'
          : (finishReasons[reason ?? ''] ?? (list.length > 0 ? 'tool_calls' : 'stop')),
        providerReason: reason ?? 'none',
        text: text.end(),
        calls: list,
        droppedCalls: calls.dropped(),
        usage: readUsage(usage),
      };
    },
    toBody: (sent) => ({
      type: 'message',
      role: 'assistant',
      content: [
        ...thoughts.values(),
        // Anthropic refuses a blank text that is sent back.
        ...(text.end().trim() === '' ? [] : [{ type: 'text', text: text.end() }]),
        ...sent.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ],
      stop_reason: sent.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 0, output_tokens: 0 },
    }),
  };
}

const inputOf = (input: unknown): string => (typeof input === 'string' ? input : jsonOf(input));

const withoutNull = (counts: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count != null));

/** Anthropic counts cached tokens apart from `input_tokens`. */
function readUsage(usage: Record<string, unknown>): ModelUsage {
  const cacheRead = tokensOf(usage.cache_read_input_tokens);
  const cacheWrite = tokensOf(usage.cache_creation_input_tokens);
  return usageOf({
    input: (tokensOf(usage.input_tokens) ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    output: tokensOf(usage.output_tokens),
  });
}
