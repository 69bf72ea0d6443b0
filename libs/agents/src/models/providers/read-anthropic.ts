import type { FinishReason } from '@parley/contracts';
import type { ModelUsage } from '../model';
import {
  type AnswerLimits,
  type AnswerReader,
  argumentsOf,
  jsonOf,
  listOf,
  lookUp,
  maxThoughtChars,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { answerOf } from '../reading/answer-of';
import { createReplyText } from '../reading/reply-text';
import { createWrittenCalls } from '../reading/written-calls';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

/** A block with thoughts, or the place of the text among them. */
type Block = Record<string, unknown> & { type: 'thinking' | 'redacted_thinking' | 'text' };

const maxBlocks = 1_000;

/** Reads Anthropic's messages, whole or as events. */
export function createAnthropicReader(
  limits: AnswerLimits,
  write: (delta: string) => void,
): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  const blocks: { index: number | undefined; block: Block }[] = [];
  let thoughtChars = 0;
  let reason: string | null = null;
  let isStopped = false;
  let usage: Record<string, unknown> = {};

  function addThoughts(block: Block, index: number | undefined): void {
    thoughtChars += jsonOf(block).length;
    if (thoughtChars <= maxThoughtChars && blocks.length < maxBlocks)
      blocks.push({ index, block: { ...block } });
  }

  function addText(given: unknown): void {
    if (blocks.every(({ block }) => block.type !== 'text'))
      blocks.push({ index: undefined, block: { type: 'text' } });
    text.add(textOf(given));
  }

  /** `index` is absent in an answer that is not streamed. */
  function addBlock(given: unknown, index?: number): void {
    const block = objectOf(given);
    if (block.type === 'text') addText(block.text);
    if (block.type === 'thinking' || block.type === 'redacted_thinking')
      addThoughts(block as Block, index);
    if (block.type !== 'tool_use') return;
    // A stream begins a call with an empty object, and its text follows.
    const isBegun = index !== undefined && Object.keys(objectOf(block.input)).length === 0;
    const args = isBegun ? '' : argumentsOf(block.input);
    const call = { id: textOf(block.id), name: textOrNull(block.name), args };
    if (index === undefined) calls.add(call);
    else calls.addPiece({ ...call, index });
  }

  function addDelta(index: number | undefined, given: unknown): void {
    const delta = objectOf(given);
    if (delta.type === 'text_delta') addText(delta.text);
    if (delta.type === 'input_json_delta')
      calls.addPiece({ index, id: '', name: null, args: textOf(delta.partial_json) });
    const block = blocks.findLast((one) => one.index === index)?.block;
    if (block === undefined || index === undefined) return;
    thoughtChars += textOf(delta.thinking).length + textOf(delta.signature).length;
    if (thoughtChars > maxThoughtChars) return;
    if (delta.type === 'thinking_delta')
      block.thinking = textOf(block.thinking) + textOf(delta.thinking);
    if (delta.type === 'signature_delta')
      block.signature = textOf(block.signature) + textOf(delta.signature);
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
        return addBlock(event.content_block, tokensOf(event.index));
      case 'content_block_delta':
        return addDelta(tokensOf(event.index), event.delta);
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

  return {
    take(value) {
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
    read: () =>
      answerOf(text, calls, {
        named: lookUp(finishReasons, reason ?? ''),
        providerReason: reason ?? 'none',
        usage: readUsage(usage),
      }),
    toBody: (sent) => ({
      type: 'message',
      role: 'assistant',
      content: [
        ...blocks.flatMap(({ block }) =>
          block.type === 'text' ? textBlock(text.end()) : signed(block),
        ),
        ...sent.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ],
      stop_reason: sent.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 0, output_tokens: 0 },
    }),
  };
}

/** Anthropic refuses a blank text that is sent back. */
const textBlock = (text: string): object[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

/** Thoughts that were cut off have no signature, and are refused without one. */
const signed = (block: Block): object[] =>
  block.type === 'thinking' && textOf(block.signature) === '' ? [] : [block];

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
