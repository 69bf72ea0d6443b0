import { createExchange, fetchAnswer } from '../exchange';
import { type AskProvider, ask, commonFields, createClassCache } from '../provider-call';
import { createAnthropicReader } from './read-anthropic';

export async function loadAnthropic(): Promise<AskProvider> {
  const { ChatAnthropic } = await import('@langchain/anthropic');
  const classOf = createClassCache<InstanceType<typeof ChatAnthropic>>();
  return (model, call) => {
    const chat = classOf(
      model,
      () =>
        new ChatAnthropic({
          ...commonFields(model),
          apiKey: model.apiKey,
          anthropicApiUrl: model.baseUrl,
          maxTokens: model.maxTokens ?? 8_192,
          streaming: false,
          clientOptions: { timeout: model.timeoutMs, authToken: null, fetch: fetchAnswer },
        }),
    );
    const exchange = createExchange({
      ...call,
      readerOf: () => createAnthropicReader,
      ...(call.sink && { prepare: (body: Record<string, unknown>) => ({ ...body, stream: true }) }),
    });
    return ask(chat, exchange, call);
  };
}
