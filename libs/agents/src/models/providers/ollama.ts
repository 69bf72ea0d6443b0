import { createExchange, fetchAnswer } from '../exchange';
import { type AskProvider, ask, commonFields } from '../provider-call';
import { createOllamaReader } from './read-ollama';

export async function loadOllama(): Promise<AskProvider> {
  const { ChatOllama } = await import('@langchain/ollama');
  return (model, call) => {
    const exchange = createExchange({ ...call, readerOf: () => createOllamaReader });
    const { baseUrl, maxTokens } = model;
    return ask(
      new ChatOllama({
        ...commonFields(model),
        baseUrl,
        numPredict: maxTokens,
        fetch: fetchAnswer,
      }),
      exchange,
      call,
    );
  };
}
