import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import type { ModelSettings } from './model';
import { modelFetch } from './model-fetch';
import type { ProviderAccess } from './provider-keys';
import type { OpenAiTool } from './to-langchain';

interface ProviderCall {
  messages: BaseMessage[];
  tools: OpenAiTool[];
  /** Aborts the HTTP request, not only the wait for it. */
  signal: AbortSignal;
}

/** Calls one model once, without retries or fallbacks. */
export type AskProvider = (call: ProviderCall) => Promise<AIMessage>;

export interface ProviderModel extends ProviderAccess, Omit<ModelSettings, 'candidates'> {
  /** The model's name without the provider. */
  name: string;
  timeoutMs: number;
}

export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'ollama';

/** Always passed, because the classes otherwise read an address from their own environment variables. */
const addresses: Record<ProviderKind, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
  ollama: 'http://127.0.0.1:11434',
};

/** The protocol of a provider. An unknown provider is assumed to speak OpenAI's protocol; null if it has no address. */
export function providerKind(provider: string, access: ProviderAccess | undefined): ProviderKind | null {
  if (provider in addresses) return provider as ProviderKind;
  return access?.baseUrl ? 'openai' : null;
}

/**
 * Opens a model with LangChain's class for its provider. Each class is imported on first use: importing all four takes two
 * seconds. Their own retries are disabled, because they would take more than a minute.
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
        let reasoningTokens: number | undefined;
        // Works around three faults of the class: it ignores the signal, sends the results of parallel calls in separate
        // messages where Gemini expects one, and does not count reasoning tokens.
        gemini.completionWithRetry = async (request) => {
          if (typeof request === 'object' && 'contents' in request) mergeAdjacentMessages(request.contents);
          const answer = await completionWithRetry.call(gemini, request, { signal: call.signal } as never);
          reasoningTokens = (answer.response.usageMetadata as { thoughtsTokenCount?: number } | undefined)
            ?.thoughtsTokenCount;
          return answer;
        };
        const message = await ask(gemini)(call);
        if (reasoningTokens !== undefined && message.usage_metadata) {
          message.usage_metadata.output_tokens += reasoningTokens;
          message.usage_metadata.output_token_details = { reasoning: reasoningTokens };
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

/** Calls `_generate`, which each class implements, because `invoke` adds callbacks and tracing. */
const ask =
  (model: BaseChatModel): AskProvider =>
  async ({ messages, tools, signal }) => {
    const options = { signal, ...(tools.length > 0 && { tools }) };
    const { generations } = await model._generate(messages, options as BaseChatModel['ParsedCallOptions']);
    const message = generations[0]?.message;
    if (message === undefined) throw new Error('The provider returned no message');
    if (signal.aborted) throw signal.reason;
    return message as AIMessage;
  };

function mergeAdjacentMessages(contents: { role: string; parts: unknown[] }[]): void {
  for (let at = contents.length - 1; at > 0; at -= 1) {
    if (contents[at]!.role !== contents[at - 1]!.role) continue;
    contents[at - 1]!.parts.push(...contents[at]!.parts);
    contents.splice(at, 1);
  }
}
