import type { FinishReason } from '@parley/contracts';
import type { ModelUsage } from '../model';
import {
  type Answer,
  type AnswerLimits,
  type AnswerReader,
  type SentCall,
  jsonOf,
  listOf,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { createReplyText } from '../reading/reply-text';
import { faultOf, reportedError } from '../reading/provider-fault';
import { createWrittenCalls } from '../reading/written-calls';

/** The words of servers that speak OpenAI's protocol. Any other word is `stop`. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  safety: 'content_filter',
  sensitive: 'content_filter',
  refusal: 'refusal',
  error: 'error',
  abort: 'error',
  network_error: 'error',
  insufficient_system_resource: 'error',
};

/** Fields of a message with thoughts. DeepSeek, Kimi and OpenRouter demand theirs back with the calls of the turn. */
const thoughtFields = ['reasoning_content', 'reasoning_details'] as const;

/** Reads OpenAI's chat completions, and what servers that speak their protocol make of them. */
export function createOpenAiReader(limits: AnswerLimits, write: (delta: string) => void): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  const thoughts: Record<string, unknown> = {};
  let hasRefused = false;
  let reason: string | null = null;
  let isWhole = false;
  let isDone = false;
  let usage: ModelUsage = usageOf({ input: undefined, output: undefined });

  function addContent(content: unknown): void {
    if (typeof content === 'string') return text.add(content);
    for (const given of listOf(content)) {
      if (typeof given === 'string') text.add(given);
      const part = objectOf(given);
      if (part.type === 'text' || part.type === 'output_text') text.add(textOf(part.text));
      if (part.type === 'refusal') addRefusal(part.refusal);
    }
  }

  function addRefusal(refusal: unknown): void {
    if (typeof refusal !== 'string' || refusal === '') return;
    hasRefused = true;
    text.add(refusal);
  }

  function addThoughts(part: Record<string, unknown>): void {
    for (const field of thoughtFields) {
      const value = part[field];
      const before = thoughts[field];
      if (typeof value === 'string') thoughts[field] = textOf(before) + value;
      if (Array.isArray(value)) thoughts[field] = [...listOf(before), ...(value as unknown[])];
    }
  }

  function addCall(given: unknown, isMessage: boolean): void {
    const call = objectOf(given);
    const called = objectOf(call.function);
    const { extra_content: extraContent } = call;
    const piece = {
      index: tokensOf(call.index),
      id: textOf(call.id),
      name: textOrNull(called.name),
      args: argumentsOf(called.arguments),
      ...(extraContent !== undefined && { extra: { extra_content: extraContent } }),
    };
    if (isMessage) calls.add(piece);
    else calls.addPiece(piece);
  }

  return {
    take(value) {
      const error = reportedError(value);
      if (error !== null) throw faultOf(error);
      usage = readUsage(value.usage) ?? usage;
      const choice = objectOf(listOf(value.choices).find((one) => !((objectOf(one).index as number) > 0)));
      if (choice.error != null) throw faultOf(choice.error);
      usage = readUsage(choice.usage) ?? usage;
      reason = textOf(choice.finish_reason) || reason;
      const isMessage = typeof choice.message === 'object' && choice.message !== null;
      isWhole ||= isMessage;
      const part = objectOf(isMessage ? choice.message : choice.delta);
      addContent(part.content);
      addRefusal(part.refusal);
      addThoughts(part);
      for (const call of listOf(part.tool_calls)) addCall(call, isMessage);
      if (part.function_call != null) addCall({ function: part.function_call }, isMessage);
    },
    takeDone() {
      isDone = true;
    },
    hasEnded: () => isWhole || isDone || reason !== null,
    isFull: text.isFull,
    read(): Answer {
      const written = calls.list();
      return {
        finishReason: finishReasonOf({ isFull: text.isFull(), hasRefused, reason, hasCalls: written.length > 0 }),
        providerReason: reason ?? 'none',
        text: text.end(),
        calls: written,
        droppedCalls: calls.dropped(),
        usage,
      };
    },
    toBody: (sent) => ({
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: text.end(), ...(sent.length > 0 && { tool_calls: sent.map(toWire) }) },
          finish_reason: sent.length > 0 ? 'tool_calls' : 'stop',
        },
      ],
    }),
    thoughts: () => thoughts,
  };
}

const toWire = ({ id, name, args }: SentCall) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

interface HowItEnded {
  isFull: boolean;
  hasRefused: boolean;
  reason: string | null;
  hasCalls: boolean;
}

function finishReasonOf({ isFull, hasRefused, reason, hasCalls }: HowItEnded): FinishReason {
  if (isFull) return 'length';
  const named = finishReasons[(reason ?? '').toLowerCase()];
  if (named !== undefined) return named;
  if (hasCalls) return 'tool_calls';
  return hasRefused ? 'refusal' : 'stop';
}

/** Some servers send arguments as an object instead of its text. */
function argumentsOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return given == null ? '' : jsonOf(given);
}

function readUsage(given: unknown): ModelUsage | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const usage = objectOf(given);
  const prompt = objectOf(usage.prompt_tokens_details);
  return usageOf({
    input: tokensOf(usage.prompt_tokens),
    cacheRead: tokensOf(prompt.cached_tokens) ?? tokensOf(usage.prompt_cache_hit_tokens),
    cacheWrite: tokensOf(prompt.cache_write_tokens),
    output: tokensOf(usage.completion_tokens),
    reasoning: tokensOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
  });
}
