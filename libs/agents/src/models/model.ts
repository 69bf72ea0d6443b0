import type { AgentModel, JsonObject, Scope } from '@parley/contracts';

/** A tool call of a model. `invalid` has the arguments as the model wrote them, when they are not a JSON object. */
export interface ModelToolCall {
  /** Our own id, unique in the thread. The provider's id is in `raw`. */
  id: string;
  /** The name with dots, as in definitions. */
  name: string;
  args: JsonObject;
  invalid?: string;
}

/** One message of a conversation, independent of the provider. */
export type ModelMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ModelToolCall[]; raw?: RawReply }
  | { role: 'tool'; toolCallId: string; name: string; content: string; isError: boolean };

/**
 * The provider's own message, which is sent back unchanged when the same model continues the turn: it may contain data that
 * only this model can read, such as signed reasoning. It is not stored.
 */
export interface RawReply {
  model: string;
  message: unknown;
  /** The provider's ids of the calls, by our ids. */
  callIds: ReadonlyMap<string, string>;
}

export interface ModelRequest {
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly { name: string; description: string; parameters: JsonObject }[];
  /** Names of tools that exist but are not offered. */
  otherTools?: readonly string[];
  /** Creates the id of the call with this index in the reply. */
  callId: (index: number) => string;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Absent when the provider does not report them. */
  reasoningTokens?: number;
}

export interface ModelReply {
  text: string;
  toolCalls: ModelToolCall[];
  usage: ModelUsage;
  raw?: RawReply;
}

export type ModelFailureReason =
  'failed' | 'timeout' | 'aborted' | 'not_configured' | 'context_overflow' | 'unknown_model';

export type ModelResult =
  | { ok: true; reply: ModelReply; model: string; durationMs: number }
  | { ok: false; reason: ModelFailureReason; model: string; detail: string; durationMs: number };

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
   * The model of an agent, or the default. Without any configured provider it is `offline/scripted`, but in production only
   * for the channel `api` or where the agent names it (ADR 29).
   */
  settings(scope: Scope, model: AgentModel | undefined, channel?: string): Promise<ModelSettings>;
  /**
   * Gets one reply: calls the first candidate with retries, then each fallback. Never throws. `detail` has the provider's
   * text, for logs and the stored execution, not for callers. With a `sink` the reply is streamed from the provider.
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
