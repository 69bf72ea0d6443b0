import type { ErrorDetail, FinishReason, Json, JsonObject } from '@parley/contracts';
import type { Tenant } from '@parley/db';
import type { AgentFailure, LoadedAgent } from '../load-agent';

/** A turn that this process owns, queued or running. */
export interface Turn extends Tenant {
  id: string;
  threadId: string;
  /** Revision of the agent's configuration with which the turn began. */
  agentRevision: number | null;
}

export interface NewTurn {
  agent: { id: string } | { slug: string };
  /** `threadId` has precedence over `externalThreadId`. Without both the thread is new. */
  threadId?: string;
  externalThreadId?: string;
  routerSlug?: string;
  channel: string;
  message: string;
  params: JsonObject;
  /** Whether `params` were checked. If not, and the agent declares params, no turn is stored. */
  isChecked: boolean;
  requestId?: string;
}

export interface BegunTurn extends Turn {
  /**
   * `running`: runs immediately. `queued`: waits for earlier turns. `stored`: the agent
   * does not answer it.
   */
  state: 'running' | 'queued' | 'stored';
  /** Only for a running turn. */
  history: HistoryRow[];
}

export type BeginResult =
  | AgentFailure
  | { ok: false; reason: 'thread_not_found' }
  /** The thread would have more params than it may. */
  | { ok: false; reason: 'invalid_params'; problems: ErrorDetail[] }
  /** `params` are all params of the thread, including those of this message. */
  | { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject }
  /**
   * No turn was stored, because the agent declares params. `params` are the thread's params so far.
   */
  | { ok: true; agent: LoadedAgent; turn: null; params: JsonObject };

export interface StoredToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

/**
 * One stored message. `toolCallId` is the call whose result it is, `author` the name of the
 * person who wrote it.
 */
export type HistoryRow = [
  executionId: string,
  role: 'user' | 'assistant' | 'tool' | 'system',
  content: string,
  toolCalls: StoredToolCall[] | null,
  toolCallId: string | null,
  author?: string | null,
];

/** The usage and the steps of a turn so far. */
export interface Progress {
  model?: string;
  iterations: number;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number };
  steps: readonly Json[];
}

export interface TurnOutcome extends Progress {
  status: 'succeeded' | 'failed';
  /**
   * Null: no message is stored. In a failed turn it is the notice for the person, and no answer.
   */
  reply: { id: string; position: number; content: string } | null;
  error?: string;
  /** Null: the turn was ended before a model answered. */
  finishReason: FinishReason | null;
}

/** The result of a call. `full` is stored with the call, `content` is sent to the model. */
export interface CallResult {
  callId: string;
  position: number;
  isError: boolean;
  full: Json;
  content: string;
}
