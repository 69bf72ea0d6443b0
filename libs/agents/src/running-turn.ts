import type { JsonObject } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Tools } from '@parley/tools';
import type { ChatRequest } from './chat-result';
import type { LoadedAgent } from './load-agent';
import type { AgentLog } from './log';
import type { Models } from './models/model';
import type { Routing } from './routers/choose-agent';
import type { BegunTurn } from './threads/turn';
import type { TurnLine } from './threads/turn-line';
import type { TurnStore } from './threads/turn-store';

export interface ChatDeps {
  db: Db;
  tools: Tools;
  models: Models;
  log: AgentLog;
  store: TurnStore;
  line: TurnLine;
  /** Of one message, its wait in the thread's line included. */
  turnTimeoutMs: number;
  /** How much of a thread's history the model is given, in tokens. */
  historyTokens: number;
}

export type Route = Extract<Routing, { ok: true }>;

/** A message that has its place in its thread, and what is known by then. */
export interface RunningTurn {
  request: ChatRequest;
  /** Null without a router. */
  routing: Route | null;
  agent: LoadedAgent;
  turn: BegunTurn;
  /** All of the thread's. */
  params: JsonObject;
  /** By `performance.now()`. */
  startedAt: number;
}
