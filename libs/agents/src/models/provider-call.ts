import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import { LRUCache } from 'lru-cache';
import { type Exchange, type ReadAnswer, inExchange } from './exchange';
import type { ModelSettings, RawReply, TextSink } from './model';
import type { ProviderAccess } from './provider-keys';
import type { AnswerLimits } from './reading/answer';

/** A tool in the shape that all four classes accept. */
export interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

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
  /**
   * Gets the text while the provider sends it. Without a sink the provider sends the
   * reply as a whole.
   */
  sink?: TextSink;
}

/** An answer, and the message with which the LangChain class sends it back. */
export interface ProviderReply extends ReadAnswer {
  message: AIMessage;
}

/** Calls one model once, without retries or fallbacks. */
export type AskProvider = (
  model: ProviderModel & { baseUrl: string; apiKey: string },
  call: ProviderCall,
) => Promise<ProviderReply>;

/** Their own retries are disabled, because they would take more than a minute. */
export const commonFields = ({ name, temperature }: ProviderModel) => ({
  model: name,
  temperature,
  maxRetries: 0,
});

const maxClasses = 500;

/** Keeps the objects of a class, of which making one takes 0.1 ms with its client. */
export function createClassCache<C extends object>() {
  const cache = new LRUCache<string, C>({ max: maxClasses });
  return (
    { name, credential, temperature, maxTokens, reasoning }: ProviderModel,
    make: () => C,
  ): C => {
    const key = JSON.stringify([credential, name, temperature, maxTokens, reasoning]);
    const known = cache.get(key) ?? make();
    cache.set(key, known);
    return known;
  };
}

/** Calls `_generate`, which each class implements, because `invoke` adds callbacks and tracing. */
export async function ask(
  chat: BaseChatModel,
  exchange: Exchange,
  { messages, tools, signal }: ProviderCall,
): Promise<ProviderReply> {
  const options = {
    signal,
    ...(tools.length > 0 && { tools }),
  } as BaseChatModel['ParsedCallOptions'];
  try {
    const { generations } = await inExchange(exchange, () => chat._generate(messages, options));
    if (signal.aborted) throw signal.reason;
    return { ...exchange.read()!, message: generations[0]!.message as AIMessage };
  } catch (error) {
    throw exchange.failure() ?? error;
  }
}
