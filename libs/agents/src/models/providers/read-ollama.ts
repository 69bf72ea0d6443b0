import type { FinishReason } from '@parley/contracts';
import {
  type AnswerLimits,
  type AnswerReader,
  argumentsOf,
  listOf,
  lookUp,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { answerOf } from '../reading/answer-of';
import { createReplyText } from '../reading/reply-text';
import { createWrittenCalls } from '../reading/written-calls';

/** `load` and `unload`: the server answered nothing. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  load: 'error',
  unload: 'error',
};

/** Reads the lines of Ollama. */
export function createOllamaReader(
  limits: AnswerLimits,
  write: (delta: string) => void,
): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  let isDone = false;
  let reason = '';
  let counts: Record<string, unknown> = {};

  return {
    take(value) {
      const message = objectOf(value.message);
      text.add(textOf(message.content));
      for (const given of listOf(message.tool_calls)) {
        const call = objectOf(given);
        const { name, arguments: args } = objectOf(call.function);
        calls.add({
          id: textOf(call.id),
          name: textOrNull(name),
          args: argumentsOf(args),
        });
      }
      if (value.done !== true) return;
      isDone = true;
      reason = textOf(value.done_reason);
      counts = value;
    },
    takeDone() {
      isDone = true;
    },
    hasEnded: () => isDone,
    isFull: text.isFull,
    read: () =>
      answerOf(text, calls, {
        named: lookUp(finishReasons, reason),
        providerReason: reason || 'none',
        usage: usageOf({
          input: tokensOf(counts.prompt_eval_count),
          output: tokensOf(counts.eval_count),
        }),
      }),
    toBody: (sent) => ({
      message: {
        role: 'assistant',
        content: text.end(),
        tool_calls: sent.map(({ name, args }) => ({ function: { name, arguments: args } })),
      },
      done: true,
      done_reason: 'stop',
    }),
  };
}
