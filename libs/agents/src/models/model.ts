import type { AgentModel, JsonObject, Scope } from '@parley/contracts';

/** A tool call of a model. `invalid` holds what it wrote when that is not a JSON object. */
export interface ModelToolCall {
  /** Ours, unique in the thread; what the provider called it stays in `raw`. */
  id: string;
  /** With dots, as users write it. */
  name: string;
  args: JsonObject;
  invalid?: string;
}

/** One message of a conversation, free of any provider's shape. */
export type ModelMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ModelToolCall[]; raw?: RawReply }
  | { role: 'tool'; toolCallId: string; name: string; content: string; isError: boolean };

/**
 * The provider's own message, handed back unchanged within the turn when the same model goes on: it may carry what only
 * that model reads (signed thoughts). Never stored.
 */
export interface RawReply {
  model: string;
  message: unknown;
  /** The provider's ids of the calls, by ours. */
  callIds: ReadonlyMap<string, string>;
}

export interface ModelTool {
  name: string;
  description: string;
  parameters: JsonObject;
}

export interface ModelRequest {
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** Tools that exist and are not offered: for their names alone. */
  otherTools?: readonly string[];
  /** Makes the id of the call at this place of the reply. */
  callId: (index: number) => string;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Only when the provider reports them. */
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

/** What an agent's configuration says of its model, with every default filled in. */
export interface ModelSettings {
  /** `provider/name`, first the chosen one, then the fallbacks in their order. */
  candidates: [string, ...string[]];
  temperature?: number;
  maxTokens?: number;
  reasoning?: 'minimal' | 'low' | 'medium' | 'high';
}

export interface Models {
  /**
   * The model that would answer: `offline/scripted` when no provider at all has a key. Customers in production, who
   * come by any `channel` but the API, get it only where it is named (ADR 29).
   */
  settings(scope: Scope, model: AgentModel | undefined, channel?: string): Promise<ModelSettings>;
  /**
   * One answer of a model: the first candidate with its retries, then each fallback. Never throws; upstream texts are
   * in `detail`, for logs and the execution's record, not for callers.
   */
  complete(
    scope: Scope,
    settings: ModelSettings,
    request: ModelRequest,
    options?: { signal?: AbortSignal },
  ): Promise<ModelResult>;
  /** Loads the client classes of the providers that have a key, so that the first turn does not wait for it. */
  warmUp(): Promise<void>;
}
