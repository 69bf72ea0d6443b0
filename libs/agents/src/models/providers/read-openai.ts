import type { FinishReason } from '@parley/contracts';
import type { ModelUsage } from '../model';
import {
  type AnswerLimits,
  type AnswerReader,
  type SentCall,
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
import { faultOf } from '../reading/provider-fault';
import { createReplyText } from '../reading/reply-text';
import { type WrittenCalls, createWrittenCalls } from '../reading/written-calls';

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

/** Reads OpenAI's chat completions, and what servers that speak their protocol make of them. */
export function createOpenAiReader(
  limits: AnswerLimits,
  write: (delta: string) => void,
): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  /** DeepSeek, Kimi and OpenRouter demand them back with the calls of the turn. */
  const thoughts: Record<string, unknown> = {};
  const mergedDetails = createDetails();
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
    const { reasoning_content: content, reasoning_details: details } = part;
    if (typeof content === 'string')
      thoughts.reasoning_content = (textOf(thoughts.reasoning_content) + content).slice(
        0,
        maxThoughtChars,
      );
    if (Array.isArray(details)) thoughts.reasoning_details = mergedDetails.add(details);
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
    take(value, isEvent) {
      usage = readUsage(value.usage) ?? usage;
      const choice = objectOf(
        listOf(value.choices).find((one) => !((objectOf(one).index as number) > 0)),
      );
      if (choice.error != null) throw faultOf(choice.error);
      usage = readUsage(choice.usage) ?? usage;
      reason = textOf(choice.finish_reason) || reason;
      // Some servers send the message so far beside each delta.
      const isMessage = isObject(choice.message) && !(isEvent && isObject(choice.delta));
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
    read: () =>
      answerOf(text, calls, {
        named: endOf(reason, hasRefused, calls),
        providerReason: reason ?? 'none',
        usage,
      }),
    toBody: (sent) => ({
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text.end(),
            ...(sent.length > 0 && { tool_calls: sent.map(toWire) }),
          },
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

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

function endOf(
  reason: string | null,
  hasRefused: boolean,
  calls: WrittenCalls,
): FinishReason | undefined {
  const named = lookUp(finishReasons, (reason ?? '').toLowerCase());
  const isRefusal = hasRefused && calls.list().length === 0;
  return named ?? (isRefusal ? 'refusal' : undefined);
}

const maxDetails = 1_000;

/**
 * The parts of OpenRouter's `reasoning_details`. In a stream they arrive in pieces with the
 * same index and type.
 */
function createDetails() {
  const list: Record<string, unknown>[] = [];
  let chars = 0;
  return {
    add(given: unknown[]): unknown[] {
      for (const piece of given.map(objectOf)) {
        chars += jsonOf(piece).length;
        if (chars > maxThoughtChars) break;
        const isSame = (one: Record<string, unknown>) =>
          one.index === piece.index && one.type === piece.type;
        const known = piece.index === undefined ? undefined : list.findLast(isSame);
        if (known !== undefined) mergeDetail(known, piece);
        else if (list.length < maxDetails) list.push({ ...piece });
      }
      return list;
    },
  };
}

function mergeDetail(known: Record<string, unknown>, piece: Record<string, unknown>): void {
  const { text, data, summary, ...others } = piece;
  for (const [name, value] of Object.entries({ text, data, summary }))
    if (typeof value === 'string') known[name] = textOf(known[name]) + value;
  // `assign` would set the prototype for a key `__proto__`, which no server needs.
  for (const [name, value] of Object.entries(others))
    if (value != null && name !== '__proto__') known[name] = value;
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
