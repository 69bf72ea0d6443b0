import type { Json, JsonObject } from '@parley/contracts';
import type { Tenant } from '@parley/db';
import type { AgentFailure, LoadedAgent } from '../load-agent';

/** A turn that this process owns, queued or running. */
export interface Turn extends Tenant {
  id: string;
  threadId: string;
}

export interface Entrance {
  agent: { id: string } | { slug: string };
  /** A `threadId` goes before an `externalThreadId`; without both the thread is new. */
  threadId?: string;
  externalThreadId?: string;
  routerSlug?: string;
  channel: string;
  message: string;
  params: JsonObject;
  /** Whether `params` fit what the agent declares; else nothing is begun if it declares any. */
  isChecked: boolean;
  requestId?: string;
}

export interface BegunTurn extends Turn {
  /** `running`: there is nothing to wait for. `stored`: a person has taken over, nobody answers. */
  state: 'running' | 'queued' | 'stored';
  /** Of a running turn. */
  history: HistoryRow[];
}

export type Entered =
  | AgentFailure
  | { ok: false; reason: 'thread_not_found' }
  /** `params` are all of the thread's, with those of this message. */
  | { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject }
  /** The agent declares params: `params` are those stored so far. */
  | { ok: true; agent: LoadedAgent; turn: null; params: JsonObject };

export interface StoredToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

/** One stored message: execution, role, text, calls, and the call it answers. */
export type HistoryRow = [
  executionId: string,
  role: 'user' | 'assistant' | 'tool',
  content: string,
  toolCalls: StoredToolCall[] | null,
  toolCallId: string | null,
];

/** What a turn has used so far. */
export interface Progress {
  model?: string;
  iterations: number;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number };
  steps: readonly Json[];
}

export interface TurnOutcome extends Progress {
  status: 'succeeded' | 'failed';
  /** Null stores no reply. */
  reply: { id: string; position: number; content: string } | null;
  error?: string;
}

/** What a call came to: in full, and as the model sees it. */
export interface CallResult {
  callId: string;
  position: number;
  isError: boolean;
  full: Json;
  content: string;
}
