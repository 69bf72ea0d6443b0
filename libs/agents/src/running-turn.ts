import type { JsonObject } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { ChunkLog, ReplyStream } from './background/reply-stream';
import type { Tools } from '@parley/tools';
import type { ChatRequest } from './chat-result';
import type { LoadedAgent } from './load-agent';
import type { AgentLog } from './log';
import type { Models } from './models/model';
import type { Routing } from './routers/choose-agent';
import type { ModelMessage } from './models/model';
import type { BegunTurn, Progress } from './threads/turn';
import type { TurnQueue } from './threads/turn-queue';
import type { TurnStore } from './threads/turn-store';

export interface ChatDeps {
  db: Db;
  tools: Tools;
  models: Models;
  log: AgentLog;
  store: TurnStore;
  turnQueue: TurnQueue;
  /** Time limit of a turn, including its wait in the thread's queue. */
  turnTimeoutMs: number;
  /** Maximum history of a thread that the model gets, in tokens. */
  historyTokens: number;
  /** Maximum tool calls in one reply of a model. */
  toolCallsPerMessage: number;
  /** Maximum model calls of a turn and all turns that `agent.chat` nests in it. */
  modelCallsPerTurn: number;
  /** Where background executions write their streams. */
  chunkLog?: ChunkLog;
}

export type Route = Extract<Routing, { ok: true }>;

/** A stored turn with the data that the next steps need. */
export interface RunningTurn {
  request: ChatRequest;
  /** Null without a router. */
  routing: Route | null;
  agent: LoadedAgent;
  turn: BegunTurn;
  /** All params of the thread, including those of this message. */
  params: JsonObject;
  /** The time of `performance.now()` when the message arrived. */
  startedAt: number;
  /** Only of a background execution: what is recorded of it, from which it continues. */
  recorded?: RecordedTurn;
  /** Only of a background execution. */
  sent?: SentConversation;
  /** Only of a background execution: what its readers see while it runs. */
  stream?: ReplyStream;
}

/** The conversation before a message, as the client has sent it (docs/adr/0061). */
export interface SentConversation {
  history: { role: 'user' | 'assistant'; content: string }[];
  /** Follow the agent's own prompt. */
  instructions: string;
  /** The message gets a thread of its own, which is erased after a day. */
  isSingle: boolean;
}

export interface RecordedTurn extends Progress {
  /** The message, and the calls with their results. */
  messages: ModelMessage[];
  /** The first free position among the turn's messages. */
  position: number;
}
