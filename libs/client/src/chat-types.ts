import type { JsonObject } from './json';

interface Message {
  message: string;
  /** Continues this thread. */
  threadId?: string;
  /** Continues or begins the thread with this id of yours. */
  externalThreadId?: string;
  /** `params` are `{{threadContext.params.X}}` in the agent's prompt. */
  threadContext?: { params?: JsonObject };
}

/** Who answers: an agent by its slug or identifier, or whom a router picks. */
export type ChatInput =
  | (Message & { agentSlug: string; agentId?: undefined; routerSlug?: undefined; phoneNumber?: undefined })
  | (Message & { agentId: string; agentSlug?: undefined; routerSlug?: undefined; phoneNumber?: undefined })
  | (Message & { routerSlug: string; agentSlug?: undefined; agentId?: undefined; phoneNumber?: string });

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  reasoningTokens?: number;
}

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
  };
  _transferred?: { targetAgentSlug: string; targetAgent: string };
  /** Of routers: identifier and slug of the agent that was picked. */
  routedToAgent?: string;
  routedToAgentSlug?: string;
}
