import type { FinishReason } from '@parley/contracts';
import {
  type AnswerLimits,
  type AnswerReader,
  listOf,
  lookUp,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { answerOf } from '../reading/answer-of';
import { faultOf } from '../reading/provider-fault';
import { createReplyText } from '../reading/reply-text';
import { createWrittenCalls } from '../reading/written-calls';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/**
 * Reads OpenAI's Responses API, which LangChain's class calls for models that offer no chat
 * completions. The last event of a stream contains the whole response.
 */
export function createResponsesReader(
  limits: AnswerLimits,
  write: (delta: string) => void,
): AnswerReader {
  /** The text that was streamed. The reply is the text of the whole response. */
  let hasStreamed = false;
  const text = createReplyText(limits.textBytes, (delta) =>
    hasStreamed ? undefined : write(delta),
  );
  const streamed = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  let response: Record<string, unknown> | null = null;
  let hasRefused = false;

  function takeResponse(value: Record<string, unknown>): void {
    if (value.error != null) throw faultOf(value.error);
    response = value;
    for (const given of listOf(value.output)) {
      const item = objectOf(given);
      if (item.type === 'function_call')
        calls.add({
          id: textOf(item.call_id),
          name: textOrNull(item.name),
          args: textOf(item.arguments),
        });
      for (const part of listOf(item.content).map(objectOf)) {
        hasRefused ||= part.type === 'refusal';
        if (item.type === 'message') text.add(textOf(part.text) || textOf(part.refusal));
      }
    }
  }

  return {
    take(value) {
      if (Array.isArray(value.output)) return takeResponse(value);
      if (value.type === 'response.output_text.delta' || value.type === 'response.refusal.delta') {
        hasStreamed = true;
        streamed.add(textOf(value.delta));
      }
      if (
        ['response.completed', 'response.incomplete', 'response.failed'].includes(
          String(value.type),
        )
      )
        takeResponse(objectOf(value.response));
    },
    takeDone() {},
    hasEnded: () => response !== null,
    isFull: text.isFull,
    read() {
      const reason = textOf(objectOf(response?.incomplete_details).reason);
      const cut = response?.status === 'incomplete' ? 'length' : undefined;
      const isRefusal = hasRefused && calls.list().length === 0;
      return answerOf(text, calls, {
        named: lookUp(finishReasons, reason) ?? cut ?? (isRefusal ? 'refusal' : undefined),
        providerReason: reason || textOf(response?.status),
        usage: readUsage(objectOf(response?.usage)),
      });
    },
    // The items of the response have ids of their own, and thoughts that belong to its calls.
    toBody: (sent) => ({
      ...response,
      output: outputOf(listOf(response?.output), [...sent]),
      usage: undefined,
    }),
  };
}

function outputOf(
  items: unknown[],
  sent: { id: string; name: string; args: unknown }[],
): unknown[] {
  return items.map(objectOf).flatMap((item) => {
    if (item.type !== 'function_call') return [item];
    const call = sent.shift();
    return call === undefined
      ? []
      : [{ ...item, call_id: call.id, name: call.name, arguments: JSON.stringify(call.args) }];
  });
}

const readUsage = (usage: Record<string, unknown>) =>
  usageOf({
    input: tokensOf(usage.input_tokens),
    cacheRead: tokensOf(objectOf(usage.input_tokens_details).cached_tokens),
    output: tokensOf(usage.output_tokens),
    reasoning: tokensOf(objectOf(usage.output_tokens_details).reasoning_tokens),
  });
