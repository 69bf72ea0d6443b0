import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import type { ModelSettings } from './model';
import { modelFetch } from './model-fetch';
import type { ProviderAccess } from './provider-keys';
import type { OpenAiTool } from './to-langchain';

interface ProviderCall {
  messages: BaseMessage[];
  tools: OpenAiTool[];
  /** Ends the request itself, not only the wait for it. */
  signal: AbortSignal;
}

/** Asks one model once: no retries, no fallback. */
export type AskProvider = (call: ProviderCall) => Promise<AIMessage>;

export interface ProviderModel extends ProviderAccess, Omit<ModelSettings, 'candidates'> {
  /** Without the provider. */
  name: string;
  timeoutMs: number;
}

export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'ollama';

/** Always given to the classes: without an address they look for a third party's gateway in the environment. */
const addresses: Record<ProviderKind, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
  ollama: 'http://127.0.0.1:11434',
};

/** Which class speaks to a provider. Any other name with an address of its own is taken to speak OpenAI's protocol. */
export function providerKind(provider: string, access: ProviderAccess | undefined): ProviderKind | null {
  if (provider in addresses) return provider as ProviderKind;
  return access?.baseUrl ? 'openai' : null;
}

/**
 * LangChain's class for a provider. Each is imported on its first use: together they cost two seconds of start-up. Their
 * own retries are off (they would take over a minute), and so is tracing, which lives in the callbacks of `invoke`.
 */
export async function openProvider(kind: ProviderKind, model: ProviderModel): Promise<AskProvider> {
  const common = { model: model.name, temperature: model.temperature, maxRetries: 0 };
  const baseUrl = (model.baseUrl ?? addresses[kind]).replace(/\/+$/, '');
  const apiKey = model.apiKey ?? 'none';
  switch (kind) {
    case 'openai': {
      const { ChatOpenAI } = await import('@langchain/openai');
      return ask(
        new ChatOpenAI({
          ...common,
          apiKey,
          maxTokens: model.maxTokens,
          timeout: model.timeoutMs,
          streaming: false,
          configuration: { baseURL: baseUrl, organization: null, project: null, fetch: modelFetch },
          ...(model.reasoning && { reasoning: { effort: model.reasoning } }),
        }),
      );
    }
    case 'anthropic': {
      const { ChatAnthropic } = await import('@langchain/anthropic');
      return ask(
        new ChatAnthropic({
          ...common,
          apiKey,
          anthropicApiUrl: baseUrl,
          maxTokens: model.maxTokens ?? 8_192,
          streaming: false,
          clientOptions: { timeout: model.timeoutMs, authToken: null, fetch: modelFetch },
        }),
      );
    }
    case 'google': {
      const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai');
      const { maxTokens } = model;
      return async (call) => {
        const gemini = new ChatGoogleGenerativeAI({ ...common, apiKey, baseUrl, maxOutputTokens: maxTokens });
        const { completionWithRetry } = gemini;
        let thoughtTokens: number | undefined;
        // The class does not hand the signal on, puts each result of parallel calls in a message of its own where Gemini
        // wants them together, and leaves out the tokens that were thought.
        gemini.completionWithRetry = async (request) => {
          if (typeof request === 'object' && 'contents' in request) mergeNeighbours(request.contents);
          const answer = await completionWithRetry.call(gemini, request, { signal: call.signal } as never);
          thoughtTokens = (answer.response.usageMetadata as { thoughtsTokenCount?: number } | undefined)
            ?.thoughtsTokenCount;
          return answer;
        };
        const message = await ask(gemini)(call);
        if (thoughtTokens !== undefined && message.usage_metadata) {
          message.usage_metadata.output_tokens += thoughtTokens;
          message.usage_metadata.output_token_details = { reasoning: thoughtTokens };
        }
        return message;
      };
    }
    case 'ollama': {
      const { ChatOllama } = await import('@langchain/ollama');
      return (call) => {
        const fetchUntil: typeof fetch = (input, init) => fetch(input, { ...init, signal: call.signal });
        return ask(new ChatOllama({ ...common, baseUrl, numPredict: model.maxTokens, fetch: fetchUntil }))(call);
      };
    }
  }
}

/** `_generate` is what a class implements; `invoke` around it adds callbacks and tracing, which we do not want. */
const ask =
  (model: BaseChatModel): AskProvider =>
  async ({ messages, tools, signal }) => {
    const options = { signal, ...(tools.length > 0 && { tools }) };
    const { generations } = await model._generate(messages, options as BaseChatModel['ParsedCallOptions']);
    const message = generations[0]?.message;
    if (message === undefined) throw new Error('The provider answered without a message');
    if (signal.aborted) throw signal.reason;
    return message as AIMessage;
  };

function mergeNeighbours(contents: { role: string; parts: unknown[] }[]): void {
  for (let at = contents.length - 1; at > 0; at -= 1) {
    if (contents[at]!.role !== contents[at - 1]!.role) continue;
    contents[at - 1]!.parts.push(...contents[at]!.parts);
    contents.splice(at, 1);
  }
}
