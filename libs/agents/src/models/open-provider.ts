import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import { LRUCache } from 'lru-cache';
import { type Exchange, type ReadAnswer, createExchange, fetchAnswer, inExchange } from './exchange';
import type { ModelSettings, RawReply, TextSink } from './model';
import type { ProviderAccess } from './provider-keys';
import type { AnswerLimits } from './reading/answer';
import { createAnthropicReader } from './reading/anthropic';
import { createGoogleReader } from './reading/google';
import { createOllamaReader } from './reading/ollama';
import { createOpenAiReader } from './reading/openai';
import { createResponsesReader } from './reading/responses';
import type { OpenAiTool } from './to-langchain';

export interface ProviderModel extends ProviderAccess, Omit<ModelSettings, 'candidates'> {
  /** The model's name without the provider. */
  name: string;
  /** Identifies the address and the key without containing them. */
  credential: string;
  timeoutMs: number;
}

export interface ProviderCall {
  messages: BaseMessage[];
  tools: OpenAiTool[];
  /** Earlier messages of the same model in this turn. */
  raw: readonly RawReply[];
  limits: AnswerLimits;
  /** The id of a call to which the provider gives none. */
  callId: (index: number) => string;
  /** Aborts the HTTP request, not only the wait for it. */
  signal: AbortSignal;
  /** Gets the text while the provider sends it. Without a sink the provider sends the reply as a whole. */
  sink?: TextSink;
}

/** An answer, and the message with which the LangChain class sends it back. */
export interface ProviderReply extends ReadAnswer {
  message: AIMessage;
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

/** Imported on first use: importing all four takes two seconds, and the import of a loaded module still 0.1 ms. */
const loaded = new Map<ProviderKind, Promise<AskProvider>>();

/** Calls one model once, without retries or fallbacks. */
type AskProvider = (
  model: ProviderModel & { baseUrl: string; apiKey: string },
  call: ProviderCall,
) => Promise<ProviderReply>;

const loaders: Record<ProviderKind, () => Promise<AskProvider>> = {
  openai: loadOpenAi,
  anthropic: loadAnthropic,
  google: loadGoogle,
  ollama: loadOllama,
};

/** Loads the LangChain class of a provider. */
export function loadProvider(kind: ProviderKind): Promise<AskProvider> {
  const known = loaded.get(kind);
  if (known !== undefined) return known;
  const loading = loaders[kind]();
  loaded.set(kind, loading);
  loading.catch(() => loaded.delete(kind));
  return loading;
}

/** Calls a model once, without retries or fallbacks. */
export async function askProvider(
  kind: ProviderKind,
  model: ProviderModel,
  call: ProviderCall,
): Promise<ProviderReply> {
  const ask = await loadProvider(kind);
  const baseUrl = (model.baseUrl ?? addresses[kind]).replace(/\/+$/, '');
  return ask({ ...model, baseUrl, apiKey: model.apiKey ?? 'none' }, call);
}

/** Their own retries are disabled, because they would take more than a minute. */
const common = ({ name, temperature }: ProviderModel) => ({ model: name, temperature, maxRetries: 0 });

const maxClasses = 500;

/** Keeps the objects of a class, of which making one takes 0.1 ms with its client. */
function createClassCache<C extends object>() {
  const cache = new LRUCache<string, C>({ max: maxClasses });
  return ({ name, credential, temperature, maxTokens, reasoning }: ProviderModel, make: () => C): C => {
    const key = JSON.stringify([credential, name, temperature, maxTokens, reasoning]);
    const known = cache.get(key) ?? make();
    cache.set(key, known);
    return known;
  };
}

async function loadOpenAi(): Promise<AskProvider> {
  const { ChatOpenAI } = await import('@langchain/openai');
  const classOf = createClassCache<InstanceType<typeof ChatOpenAI>>();
  const isResponses = (url: string) => url.endsWith('/responses');
  return (model, call) => {
    const chat = classOf(
      model,
      () =>
        new ChatOpenAI({
          ...common(model),
          apiKey: model.apiKey,
          maxTokens: model.maxTokens,
          timeout: model.timeoutMs,
          streaming: false,
          configuration: { baseURL: model.baseUrl, organization: null, project: null, fetch: fetchAnswer },
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
function withReturnedFields(body: Record<string, unknown>, raw: readonly RawReply[]): Record<string, unknown> {
  if (raw.length === 0 || !Array.isArray(body.messages)) return body;
  const byCall = new Map(raw.flatMap(({ callIds, returned }) => [...callIds.values()].map((id) => [id, returned])));
  const messages = (body.messages as { tool_calls?: { id: string }[] }[]).map((message) => {
    const returned = byCall.get(message.tool_calls?.[0]?.id ?? '');
    if (returned === undefined) return message;
    const calls = message.tool_calls?.map((call) => ({ ...call, ...returned.calls.get(call.id) }));
    return { ...message, ...returned.message, tool_calls: calls };
  });
  return { ...body, messages };
}

async function loadAnthropic(): Promise<AskProvider> {
  const { ChatAnthropic } = await import('@langchain/anthropic');
  const classOf = createClassCache<InstanceType<typeof ChatAnthropic>>();
  return (model, call) => {
    const chat = classOf(
      model,
      () =>
        new ChatAnthropic({
          ...common(model),
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

/** What the class calls of Google's library, which takes no `fetch` of ours. */
interface GeminiClient {
  generateContent(request: GeminiRequest): Promise<{ response: object }>;
  generationConfig?: object;
  safetySettings?: object[];
}

interface GeminiRequest {
  contents: { role: string; parts: unknown[] }[];
}

/** Its method is replaced for each call, so the class is made for each call, which takes 4 µs. */
async function loadGoogle(): Promise<AskProvider> {
  const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai');
  return (model, call) => {
    const exchange = createExchange({ ...call, readerOf: () => createGoogleReader });
    const { apiKey, baseUrl, maxTokens, name } = model;
    const gemini = new ChatGoogleGenerativeAI({ ...common(model), apiKey, baseUrl, maxOutputTokens: maxTokens });
    const { client } = gemini as unknown as { client: GeminiClient };
    client.generateContent = async (request) => {
      const { generationConfig, safetySettings } = client;
      mergeAdjacentMessages(request.contents);
      const path = name.includes('/') ? name : `models/${name}`;
      const method = call.sink ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const headers = { 'content-type': 'application/json', 'x-goog-api-key': apiKey };
      const body = JSON.stringify({ generationConfig, safetySettings, ...request });
      return { response: await exchange.send(`${baseUrl}/v1beta/${path}:${method}`, headers, body) };
    };
    return ask(gemini, exchange, call);
  };
}

/** The class sends the results of parallel calls in separate messages, where Gemini expects one. */
function mergeAdjacentMessages(contents: { role: string; parts: unknown[] }[]): void {
  for (let at = contents.length - 1; at > 0; at -= 1) {
    if (contents[at]!.role !== contents[at - 1]!.role) continue;
    contents[at - 1]!.parts.push(...contents[at]!.parts);
    contents.splice(at, 1);
  }
}

async function loadOllama(): Promise<AskProvider> {
  const { ChatOllama } = await import('@langchain/ollama');
  return (model, call) => {
    const exchange = createExchange({ ...call, readerOf: () => createOllamaReader });
    const { baseUrl, maxTokens } = model;
    return ask(
      new ChatOllama({ ...common(model), baseUrl, numPredict: maxTokens, fetch: fetchAnswer }),
      exchange,
      call,
    );
  };
}

/** Calls `_generate`, which each class implements, because `invoke` adds callbacks and tracing. */
async function ask(
  chat: BaseChatModel,
  exchange: Exchange,
  { messages, tools, signal }: ProviderCall,
): Promise<ProviderReply> {
  const options = { signal, ...(tools.length > 0 && { tools }) } as BaseChatModel['ParsedCallOptions'];
  try {
    const { generations } = await inExchange(exchange, () => chat._generate(messages, options));
    if (signal.aborted) throw signal.reason;
    return { ...exchange.read()!, message: generations[0]!.message as AIMessage };
  } catch (error) {
    throw exchange.failure() ?? error;
  }
}
