import { createExchange, fetchAnswer } from '../exchange';
import type { RawReply } from '../model';
import { type AskProvider, ask, commonFields, createClassCache } from '../provider-call';
import { createOpenAiReader } from './read-openai';
import { createResponsesReader } from './read-responses';

/** OpenAI, and every server that speaks its protocol. */
export async function loadOpenAi(): Promise<AskProvider> {
  const { ChatOpenAI } = await import('@langchain/openai');
  const classOf = createClassCache<InstanceType<typeof ChatOpenAI>>();
  const isResponses = (url: string) => url.endsWith('/responses');
  return (model, call) => {
    const chat = classOf(
      model,
      () =>
        new ChatOpenAI({
          ...commonFields(model),
          apiKey: model.apiKey,
          maxTokens: model.maxTokens,
          timeout: model.timeoutMs,
          streaming: false,
          configuration: {
            baseURL: model.baseUrl,
            organization: null,
            project: null,
            fetch: fetchAnswer,
          },
          ...(model.reasoning && { reasoning: { effort: model.reasoning } }),
        }),
    );
    const prepare = (body: Record<string, unknown>, url: string) => ({
      ...withReturnedFields(body, call.raw),
      ...(call.sink && { stream: true }),
      ...(call.sink && !isResponses(url) && { stream_options: { include_usage: true } }),
    });
    const exchange = createExchange({
      ...call,
      readerOf: (url) => (isResponses(url) ? createResponsesReader : createOpenAiReader),
      ...((call.sink !== undefined || call.raw.length > 0) && { prepare }),
    });
    return ask(chat, exchange, call);
  };
}

/** Adds what the class leaves out of the messages of this turn (ReturnedFields). */
function withReturnedFields(
  body: Record<string, unknown>,
  raw: readonly RawReply[],
): Record<string, unknown> {
  if (raw.length === 0 || !Array.isArray(body.messages)) return body;
  const messages = [...(body.messages as SentMessage[])];
  // From the end, because some servers begin with the same ids in each answer.
  let before = messages.length;
  for (const { callIds, returned } of [...raw].reverse()) {
    const [firstId] = callIds.values();
    const at = messages.findLastIndex(
      ({ tool_calls: calls }, index) => index < before && calls?.[0]?.id === firstId,
    );
    if (at === -1) continue;
    before = at;
    const calls = messages[at]!.tool_calls?.map((call) => ({
      ...call,
      ...returned.calls.get(call.id),
    }));
    messages[at] = { ...messages[at], ...returned.message, tool_calls: calls };
  }
  return { ...body, messages };
}

interface SentMessage {
  tool_calls?: { id: string }[];
}
