import type { AgentModel, FinishReason, JsonObject, Scope } from '@parley/contracts';

/** A tool call of a model. */
export interface ModelToolCall {
  /** Our own id, unique in the thread. The provider's id is in `raw`. */
  id: string;
  /** The name with dots, as in definitions. */
  name: string;
  args: JsonObject;
  /**
   * Why the call cannot be run, as a sentence for the model: its arguments are not complete JSON,
   * or it names no tool.
   */
  problem?: string;
}

/** One message of a conversation, independent of the provider. */
export type ModelMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ModelToolCall[]; raw?: RawReply }
  | { role: 'tool'; toolCallId: string; name: string; content: string; isError: boolean };

/**
 * The provider's own message, which is sent back unchanged when the same model continues the turn:
 * it may contain data that only this model can read, such as signed reasoning. It is not stored.
 */
export interface RawReply {
  model: string;
  message: unknown;
  /** The provider's ids of the calls, by our ids. */
  callIds: ReadonlyMap<string, string>;
  /** Fields of the message and of its calls that the LangChain class does not send back. */
  returned: ReturnedFields;
}

/** Fields with the thoughts of a model, which some providers demand back within the turn. */
export interface ReturnedFields {
  message: Record<string, unknown>;
  /** By the provider's id of the call. */
  calls: ReadonlyMap<string, Record<string, unknown>>;
}

export interface ModelRequest {
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly { name: string; description: string; parameters: JsonObject }[];
  /** Names of tools that exist but are not offered. */
  otherTools?: readonly string[];
  /** Creates the id of the call with this index in the reply. */
  callId: (index: number) => string;
  /** Calls that are read of a reply; default 32. */
  maxCalls?: number;
  /**
   * Text that is read of a reply, in bytes of UTF-8; default 1 MiB. A longer reply is
   * cut, as `length`.
   */
  maxTextBytes?: number;
}

export interface ModelUsage {
  /** All tokens that the model has read, with those from and into the provider's cache. */
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /**
   * Part of `outputTokens`. Absent when the provider does not report them, as the following ones.
   */
  reasoningTokens?: number;
  /** Part of `inputTokens`: read from the provider's cache, for a lower price. */
  cacheReadTokens?: number;
  /** Part of `inputTokens`: written to the provider's cache. */
  cacheWriteTokens?: number;
}

export interface ModelReply {
  text: string;
  /**
   * Any other than `stop` and `tool_calls`: the reply was cut off, or is a refusal. Its
   * calls must not run.
   */
  finishReason: FinishReason;
  /** The provider's own word for it. */
  providerReason: string;
  /** The provider refused the request itself, and would refuse it again. */
  isPromptRefused: boolean;
  toolCalls: ModelToolCall[];
  /** Calls beyond `maxCalls`, of which nothing else is known. */
  droppedCalls: number;
  usage: ModelUsage;
  raw?: RawReply;
}

/**
 * Why there is no reply. `content_filter`, `refusal`, `length` and `empty_answer`: the model
 * answered without a text. `rejected`: the provider, or our own code, refuses the request.
 * `rate_limited` and `unavailable` may pass.
 */
export type ModelFailureReason =
  | 'unavailable'
  | 'rate_limited'
  | 'rejected'
  | 'timeout'
  | 'aborted'
  | 'not_configured'
  | 'context_overflow'
  | 'unknown_model'
  | 'content_filter'
  | 'refusal'
  | 'length'
  | 'empty_answer';

export type ModelResult =
  | { ok: true; reply: ModelReply; model: string; durationMs: number }
  | {
      ok: false;
      reason: ModelFailureReason;
      model: string;
      detail: string;
      /** The HTTP status of the provider's answer. */
      status?: number;
      /** Tokens of answers without a text. */
      usage?: ModelUsage;
      durationMs: number;
    };

/** Takes the text of a reply while the model writes it. */
export interface TextSink {
  /** A model begins to answer. What an earlier attempt has written is not part of the reply. */
  begin(): void;
  write(delta: string): void;
}

/** The model settings of an agent, including defaults. */
export interface ModelSettings {
  /** `provider/name`: first the chosen model, then the fallbacks in order. */
  candidates: [string, ...string[]];
  temperature?: number;
  maxTokens?: number;
  reasoning?: 'minimal' | 'low' | 'medium' | 'high';
}

export interface Models {
  /**
   * The model of an agent, or the default. Without any configured provider it is
   * `offline/scripted`, but in production only for the channel `api` or where the agent
   * names it (ADR 29).
   */
  settings(scope: Scope, model: AgentModel | undefined, channel?: string): Promise<ModelSettings>;
  /**
   * Gets one reply: calls the first candidate with retries, then each fallback. Never throws.
   * `detail` has the provider's text, for logs and the stored execution, not for callers. With a
   * `sink` the reply is streamed from the provider.
   */
  complete(
    scope: Scope,
    settings: ModelSettings,
    request: ModelRequest,
    options?: { signal?: AbortSignal; sink?: TextSink },
  ): Promise<ModelResult>;
  /** Loads the client library of the default model, so that the first turn does not wait for it. */
  warmUp(): Promise<void>;
}
