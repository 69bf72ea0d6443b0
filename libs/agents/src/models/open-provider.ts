import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import type { ChatGenerationChunk } from '@langchain/core/outputs';
import type { ModelSettings, TextSink } from './model';
import { modelFetch } from './model-fetch';
import type { ProviderAccess } from './provider-keys';
import { type OpenAiTool, textOf } from './to-langchain';

interface ProviderCall {
  messages: BaseMessage[];
  tools: OpenAiTool[];
  /** Aborts the HTTP request, not only the wait for it. */
  signal: AbortSignal;
  /** Gets the text while the provider sends it. Without a sink the provider sends the reply as a whole. */
  sink?: TextSink;
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
        const { client } = gemini as unknown as { client: GeminiClient };
        const { generateContent, generateContentStream } = client;
        let reasoningTokens: number | undefined;
        const note = (part: GeminiPart) => {
          reasoningTokens = part.usageMetadata?.thoughtsTokenCount ?? reasoningTokens;
        };
        // Works around three faults of the class: it ignores the signal, sends the results of parallel calls in separate
        // messages where Gemini expects one, and does not count reasoning tokens.
        client.generateContent = async (request) => {
          mergeAdjacentMessages(request.contents);
          const answer = await generateContent.call(client, request, { signal: call.signal });
          note(answer.response);
          return answer;
        };
        client.generateContentStream = async (request) => {
          mergeAdjacentMessages(request.contents);
          const { stream, response } = await generateContentStream.call(client, request, { signal: call.signal });
          response.catch(() => {}); // The stream throws the same error.
          return { stream: each(stream, note), response };
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

/** Calls `_generate` or `_streamResponseChunks`, which each class implements, because `invoke` adds callbacks and tracing. */
const ask =
  (model: BaseChatModel): AskProvider =>
  async ({ messages, tools, signal, sink }) => {
    const options = { signal, ...(tools.length > 0 && { tools }) } as BaseChatModel['ParsedCallOptions'];
    const message =
      sink === undefined
        ? (await model._generate(messages, options)).generations[0]?.message
        : await readChunks(model._streamResponseChunks(messages, options), sink);
    if (message === undefined) throw new Error('The provider returned no message');
    if (signal.aborted) throw signal.reason;
    return message as AIMessage;
  };

/** The message of a stream. Throws when the stream ends before the provider has said why it ends. */
async function readChunks(chunks: AsyncIterable<ChatGenerationChunk>, sink: TextSink): Promise<AIMessage | undefined> {
  let whole: ChatGenerationChunk | undefined;
  let isComplete = false;
  for await (const chunk of chunks) {
    whole = whole?.concat(chunk) ?? chunk;
    isComplete ||= hasFinishReason(chunk);
    const text = textOf(chunk.message.content);
    if (text !== '') sink.write(text);
  }
  if (whole !== undefined && !isComplete) throw new Error('The answer of the provider ended in the middle');
  return whole?.message as AIMessageChunk | undefined;
}

/** Each class has the reason in its own place. */
function hasFinishReason({ message, generationInfo }: ChatGenerationChunk): boolean {
  const places: (Record<string, unknown> | undefined)[] = [
    generationInfo,
    message.response_metadata,
    message.additional_kwargs,
  ];
  const names = ['finish_reason', 'finishReason', 'stop_reason', 'done_reason', 'done', 'status'];
  return places.some((place) => names.some((name) => Boolean(place?.[name])));
}

async function* each<T>(items: AsyncIterable<T>, visit: (item: T) => void): AsyncGenerator<T> {
  for await (const item of items) {
    visit(item);
    yield item;
  }
}

interface GeminiPart {
  usageMetadata?: { thoughtsTokenCount?: number };
}

/** What the class calls of Google's library. */
interface GeminiClient {
  generateContent(request: GeminiRequest, options?: { signal: AbortSignal }): Promise<{ response: GeminiPart }>;
  generateContentStream(
    request: GeminiRequest,
    options?: { signal: AbortSignal },
  ): Promise<{ stream: AsyncGenerator<GeminiPart>; response: Promise<unknown> }>;
}

interface GeminiRequest {
  contents: { role: string; parts: unknown[] }[];
}

function mergeAdjacentMessages(contents: { role: string; parts: unknown[] }[]): void {
  for (let at = contents.length - 1; at > 0; at -= 1) {
    if (contents[at]!.role !== contents[at - 1]!.role) continue;
    contents[at - 1]!.parts.push(...contents[at]!.parts);
    contents.splice(at, 1);
  }
}
