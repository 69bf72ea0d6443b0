import type { JsonObject } from './json';

interface Message {
  message: string;
  /** Continues the thread with this id. */
  threadId?: string;
  /** Your own id for the thread. Continues the thread with this id, or creates it. */
  externalThreadId?: string;
  /** `params` are available as `{{threadContext.params.X}}` in the agent's prompt. */
  threadContext?: { params?: JsonObject };
}

/** A message to one of: an agent by slug, an agent by id, or a router, which chooses the agent. */
export type ChatInput =
  | (Message & {
      agentSlug: string;
      agentId?: undefined;
      routerSlug?: undefined;
      phoneNumber?: undefined;
    })
  | (Message & {
      agentId: string;
      agentSlug?: undefined;
      routerSlug?: undefined;
      phoneNumber?: undefined;
    })
  | (Message & {
      routerSlug: string;
      agentSlug?: undefined;
      agentId?: undefined;
      phoneNumber?: string;
    });

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  reasoningTokens?: number;
}

/** A message that an agent answers in the background. */
export interface Execution {
  executionId: string;
  threadId: string;
  /** `stored`: not answered, because a person had taken over. */
  status: 'queued' | 'running' | 'stalled' | 'succeeded' | 'stored' | 'failed' | 'cancelled';
  /** The answer; null without one. */
  reply: string | null;
  /** Why the answer ended; null until the execution has ended. */
  finishReason: FinishReason | null;
  usage: Usage;
  /** Why it failed. */
  error?: string;
}

/**
 * `stop`: the reply is complete. With `length`, `content_filter` and `error` it was cut off, with
 * `refusal` the model refused.
 */
export type FinishReason =
  'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'error';

export interface ToolCallSummary {
  name: string;
  durationMs: number;
  status: 'success' | 'error';
  errorType?: string;
  errorMessage?: string;
}

export interface ChatResponse {
  threadId: string;
  message: string;
  usage: Usage;
  assistantMessageId?: string;
  _executionMeta?: {
    iterationCount: number;
    model: string;
    durationMs: number;
    toolCallSummary: ToolCallSummary[];
    errorCount: number;
    permissionDenialCount: number;
    finishReason: FinishReason;
  };
  _transferred?: { targetAgentSlug: string; targetAgent: string };
  /** Messages to a router only: id of the agent that the router chose. */
  routedToAgent?: string;
  /** Messages to a router only: slug of the agent that the router chose. */
  routedToAgentSlug?: string;
}
