import type { IncomingMessage, RequestListener } from 'node:http';
import type { Agents, CallbackTokens } from '@parley/agents';
import { operationsOf } from '@parley/contracts';
import { type Db, createIdempotencyStore, isDatabaseUnavailable } from '@parley/db';
import { type KeyLimit, createIdentify, createSessionCheck } from '@parley/identity';
import type { RateLimiter } from '@parley/redis';
import {
  type BodyMemory,
  type HttpMetrics,
  type Logger,
  createApp,
  serve,
  shareRequests,
} from '@parley/service';
import type { Tools } from '@parley/tools';
import type { Triggers } from '@parley/triggers';
import { callTool, createGrantOf } from './routes/call-tool';
import { chat, chatWithAgent, chatWithRouter } from './routes/chat';
import { compilePrompt } from './routes/compile-prompt';
import { fireTrigger } from './routes/fire-trigger';
import { mcp } from './routes/mcp';
import { runTool } from './routes/run-tool';

export interface ChatAppDeps {
  db: Db;
  agents: Agents;
  tools: Tools;
  triggers: Pick<Triggers, 'fire'>;
  callbackTokens: CallbackTokens;
  /** Whether a web page of this origin may use MCP. None by default. */
  isOwnOrigin?: (origin: string) => boolean;
  log: Logger;
  /** Whether responses are checked against their schemas; not in production. */
  checkResponses: boolean;
  metrics?: HttpMetrics;
  bodyMemory?: BodyMemory;
  limiter?: RateLimiter;
  /** Requests that are answered at the same time. */
  maxTurns?: number;
  keyLimit?: KeyLimit<IncomingMessage>;
}

/** Creates the chat service: chat, the utilities, MCP, and tool calls of code in the executor. */
export function createChatApp(deps: ChatAppDeps): RequestListener {
  const { db, log, metrics, checkResponses, limiter } = deps;
  const shared = shareRequests({
    // A request takes as long as its model and tools, or as the turns before it.
    total: deps.maxTurns ?? 256,
    code: 'too_many_turns',
    message: 'Too many requests of the organization are being answered at the same time',
  });
  const grantOf = createGrantOf(deps.callbackTokens);
  return createApp({
    log,
    metrics,
    checkResponses,
    bodyMemory: deps.bodyMemory,
    identify: createIdentify(db, deps.keyLimit),
    findSession: createSessionCheck(db, { limit: deps.keyLimit }),
    limiter,
    idempotency: createIdempotencyStore(db),
    isUnavailable: isDatabaseUnavailable,
    routes: serve(
      { ...operationsOf.chat, ...operationsOf.utilities, ...operationsOf.internal },
      {
        chatWithAgent: shared(chatWithAgent(deps)),
        chatWithRouter: shared(chatWithRouter(deps)),
        chat: shared(chat(deps)),
        compilePrompt: shared(compilePrompt(deps)),
        runTool: shared(runTool(deps)),
        fireTrigger: shared(fireTrigger(deps)),
        mcp: shared(mcp(deps)),
        callTool: callTool({ ...deps, grantOf }),
      },
      { callback: ({ request }) => void grantOf(request) },
    ),
  });
}
